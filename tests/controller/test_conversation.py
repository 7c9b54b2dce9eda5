"""Conversations from start to end, with real agent processes and without a screen."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.app_context import AppContext
from acp_tui.config.mcp_sources import from_json_file
from acp_tui.connection.errors import AgentGone, ConnectionFault, NotSupported, RequestFailed
from acp_tui.controller import Answer, SignInNeeded
from acp_tui.protocol.translator import Fold
from acp_tui.session.state import Diff, Elicitation, Permission, Terminal, ToolCall, UserMessage
from acp_tui.session.terminal_text import MAX_KEPT_PER_END
from acp_tui.store.secret_patterns import MASK
from acp_tui.store.wire_log import read_log
from tests.controller.conftest import restart
from tests.support.scripted_conversation import RememberingUser, ScriptedUser
from tests.support.waiting import until

if TYPE_CHECKING:
    from acp_tui.controller import Question
    from acp_tui.session.state import Entry, Session
    from tests.controller.conftest import Converse

CALL = {"toolCallId": "call", "title": "Run it", "kind": "execute", "rawInput": {"command": "make"}}


def comparable(entry: Entry) -> str:
    """Return an entry as text, without the version of terminals: output is replayed in other chunks."""
    return repr(dataclasses.replace(entry, version=0) if isinstance(entry, Terminal) else entry)


def assert_same(live: Session, replayed: Session) -> None:
    """Compare all entries and fields of two sessions."""
    assert [comparable(entry) for entry in live.entries] == [comparable(entry) for entry in replayed.entries]
    for name in (
        "agent",
        "phase",
        "session_id",
        "stop_reason",
        "mode",
        "modes",
        "commands",
        "usage",
        "queue",
        "plan",
    ):
        assert getattr(live, name) == getattr(replayed, name), name


# --------------------------------------------------------------------------- the log


async def test_the_log_of_a_turn_replays_to_the_same_session(converse: Converse) -> None:
    chat = converse(policy="yolo")
    await chat.open()
    await chat.prompt(
        ["say", "so", " \x1b[31m", "\ud83d", "\ude00"],
        ["update", {"sessionUpdate": "plan", "entries": [{"content": "x", "status": "pending"}]}],
        ["permission", CALL],
        ["ask", "fs/write_text_file", {"path": str(chat.conversation.cwd / "new.txt"), "content": "new"}],
        ["ask", "terminal/create", {"command": "printf 'a\\033[1mb'; exit 2"}],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
        ["update", {"sessionUpdate": "novelty", "x": 1}],
        [
            "update",
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}},
            "other",
        ],
        ["stop", "max_tokens"],
    )
    await chat.conversation.close()
    assert chat.session.stop_reason == "max_tokens"
    assert_same(chat.session, chat.replayed())


async def test_the_log_of_an_agent_that_died_replays_to_the_same_session(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    with pytest.raises(AgentGone):
        await chat.prompt(["say", "then"], ["stderr", "last words"], ["exit", 9])
    await chat.conversation.close()
    assert chat.session.phase == "dead"
    assert_same(chat.session, chat.replayed())


async def test_head_and_tail_of_long_terminal_output_are_kept(converse: Converse) -> None:
    chat = converse(policy="yolo")
    await chat.open()
    lines = "import sys\nfor n in range(300000): sys.stdout.write('line %d\\n' % n)"
    await chat.prompt(
        [
            "ask",
            "terminal/create",
            {"command": sys.executable, "args": ["-c", lines], "outputByteLimit": 100},
        ],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
    )
    [live] = [entry for entry in chat.session.entries if isinstance(entry, Terminal)]
    await chat.conversation.close()
    [replayed] = [entry for entry in chat.replayed().entries if isinstance(entry, Terminal)]
    assert live.output.head.startswith("line 0")
    assert live.output.tail.rstrip().endswith("line 299999")
    assert (replayed.output.head, replayed.output.tail, replayed.output.skipped) == (
        live.output.head,
        live.output.tail,
        live.output.skipped,
    )
    assert live.output.skipped > 0
    assert len(live.output.head) + len(live.output.tail) <= 2 * MAX_KEPT_PER_END
    assert os.path.getsize(chat.conversation.log_path or "") < 4 * MAX_KEPT_PER_END  # noqa: PTH202


async def test_a_resumed_session_keeps_its_entries_and_gives_new_terminal_ids(
    converse: Converse, home: Path
) -> None:
    offers = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
    echo = [
        ["ask", "terminal/create", {"command": "echo", "args": ["one"]}],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
    ]
    first = converse("script", offers, policy="yolo")
    await first.open()
    await first.prompt(*echo)
    await first.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    second = converse("script", offers, policy="yolo", resumed=stored)
    await second.conversation.start()
    await second.conversation.open_known("session-1")
    await second.prompt(*echo)
    await second.conversation.close()
    terminals = [entry for entry in second.session.entries if isinstance(entry, Terminal)]
    assert [(one.terminal_id, one.output.head.strip()) for one in terminals] == [
        ("term-1", "one"),
        ("term-2", "one"),
    ]
    assert_same(second.session, second.replayed())


async def test_a_conversation_works_without_a_log(converse: Converse) -> None:
    chat = converse(keep_log=False)
    await chat.open()
    await chat.prompt(["write_file", str(chat.conversation.cwd / "new.txt"), "x"], ["say", "hello"])
    assert chat.said() == "hello"
    assert chat.conversation.log_path is None
    assert [change.kind for change in await chat.conversation.changes()] == ["added"]


# --------------------------------------------------------------------------- opening


async def test_notices_name_servers_and_directories_that_the_agent_does_not_support(
    converse: Converse, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    web = {"type": "http", "url": "https://example.com", "connection": "direct"}
    file.write_text(json.dumps({"mcpServers": {"web": web}}))
    chat = converse(servers=from_json_file(file), directories=[tmp_path])
    await chat.open()
    first, second = chat.notices()
    assert "does not support additional directories" in first
    assert "The MCP server web is not used" in second


async def test_disabled_servers_are_left_out_without_a_notice(converse: Converse, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    servers = {"off": {"command": sys.executable, "disabled": True}, "on": {"command": sys.executable}}
    file.write_text(json.dumps({"mcpServers": servers}))
    chat = converse(servers=from_json_file(file))
    await chat.open()
    assert chat.notices() == []
    reasons = {server.name: server.reason_not_sent for server in chat.conversation.mcp_servers}
    assert reasons == {"off": "it is disabled", "on": None}


async def test_updates_of_another_session_are_not_shown(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    text = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "for somebody"}}
    await chat.prompt(["update", text, "another"], ["say", "for us"])
    assert chat.said() == "for us"


async def test_a_turn_cannot_be_stopped_before_the_agent_is_started(converse: Converse) -> None:
    with pytest.raises(NotSupported, match="has not been started"):
        await converse().conversation.cancel()


async def test_starting_a_missing_program_fails(converse: Converse) -> None:
    chat = converse()
    chat.conversation.launch.command[:] = ["no-such-program"]
    with pytest.raises(ConnectionFault, match="not found in PATH"):
        await chat.conversation.start()
    assert chat.session.phase == "dead"


async def test_sign_in_needed_has_the_methods_of_the_agent(converse: Converse) -> None:
    chat = converse("faulty", "demands_authentication")
    await chat.conversation.start()
    with pytest.raises(SignInNeeded) as caught:
        await chat.conversation.open_new()
    assert [method.id for method in caught.value.methods] == ["login", "shell", "waits"]
    await chat.conversation.sign_in("login")
    await chat.conversation.open_new()
    assert chat.session.session_id == "session-1"


# --------------------------------------------------------------------------- questions


async def test_the_answer_of_the_user_is_sent_as_an_option_of_the_agent(converse: Converse) -> None:
    user = ScriptedUser("allow_always", "reject_once")
    chat = converse(question_handler=user)
    await chat.open()
    await chat.prompt(["permission", CALL], ["permission", {**CALL, "toolCallId": "second"}])
    assert '"optionId": "allow_always"' in chat.said()
    assert '"optionId": "reject_once"' in chat.said()
    assert user.asked[0].subject.description == "run `make`"
    assert user.asked[0].why
    permissions = [entry for entry in chat.session.entries if isinstance(entry, Permission)]
    assert [entry.option.kind for entry in permissions if entry.option] == ["allow_always", "reject_once"]


async def test_the_question_about_a_write_has_the_old_and_the_new_text(converse: Converse) -> None:
    user = ScriptedUser("allow_once")
    chat = converse(question_handler=user)
    path = chat.conversation.cwd / "notes.txt"
    path.write_text("before\n")
    await chat.open()
    await chat.prompt(["ask", "fs/write_text_file", {"path": str(path), "content": "after\n"}])
    [question] = user.asked
    assert (question.kind, question.old_text, question.new_text) == ("write", "before\n", "after\n")
    assert path.read_text() == "after\n"


async def test_a_write_without_a_tool_call_is_shown_with_its_diff(converse: Converse) -> None:
    chat = converse(policy="accept-edits")
    path = chat.conversation.cwd / "notes.txt"
    path.write_text("before\n")
    await chat.open()
    await chat.prompt(
        ["ask", "fs/read_text_file", {"path": str(path)}],
        ["ask", "fs/write_text_file", {"path": str(path), "content": "after\n"}],
    )
    live, replayed = chat.session, Fold()
    for record in chat.records:
        replayed.apply(record)
    for session in (live, replayed.session):
        read, write = (entry for entry in session.entries if isinstance(entry, ToolCall))
        assert (read.title, write.title) == ("Read notes.txt", "Write notes.txt")
        assert write.content == [Diff(str(path), "before\n", "after\n")]


class SlowUser(ScriptedUser):
    """A user who takes 20 ms to answer."""

    async def ask(self, question: Question) -> Answer:
        began = time.time()
        while time.time() - began < 0.02:  # noqa: ASYNC110  # waits for a duration, not for a condition
            await asyncio.sleep(0)
        return await super().ask(question)


async def test_the_duration_of_a_question_is_recorded_for_its_call(converse: Converse) -> None:
    chat = converse(question_handler=SlowUser("allow_once"))
    await chat.open()
    begun = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Write", "kind": "edit"}
    path = str(chat.conversation.cwd / "new.txt")
    await chat.prompt(
        ["update", begun],
        ["ask", "fs/write_text_file", {"path": path, "content": "x"}],
        ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}],
    )
    frames = [record.frame for record in chat.records if record.direction == "client"]
    [decided] = [frame for frame in frames if frame["event"] == "decided"]
    assert decided["waited"] >= 0.02
    assert chat.session.tool_calls["t"].waited == decided["waited"]


@pytest.mark.parametrize(
    ("old", "more", "whole_file"),
    [
        ("two", {}, ("one two\nthree\nthree\n", "one 2\nthree\nthree\n")),
        ("three", {"replace_all": True}, ("one two\nthree\nthree\n", "one two\n2\n2\n")),
        ("three", {}, None),  # found twice
        ("four", {}, None),
    ],
)
async def test_the_question_about_an_edit_has_a_diff_of_the_whole_file(
    converse: Converse, old: str, more: dict[str, Any], whole_file: tuple[str, str] | None
) -> None:
    user = ScriptedUser("allow_once")
    chat = converse(question_handler=user)
    path = chat.conversation.cwd / "notes.txt"
    path.write_bytes(b"one two\r\nthree\r\nthree\r\n")
    await chat.open()
    diff = {"type": "diff", "path": str(path), "oldText": old, "newText": "2"}
    call = {"title": "Edit", "kind": "edit", "content": [diff], "rawInput": {"old_string": old, **more}}
    await chat.prompt(["permission", call])
    [question] = user.asked
    assert [(diff.old, diff.new) for _, diff in question.whole_file_diffs] == (
        [whole_file] if whole_file else []
    )


async def test_files_outside_or_sensitive_are_not_read_for_a_question(
    converse: Converse, tmp_path: Path
) -> None:
    user = ScriptedUser("reject_once", "reject_once")
    chat = converse(question_handler=user)
    await chat.open()
    for path in (tmp_path / "outside.txt", chat.conversation.cwd / ".env"):
        path.write_text("KEY=two, and more\n")
        diff = {"type": "diff", "path": str(path), "oldText": "two", "newText": "2"}
        await chat.prompt(["permission", {"title": "Edit", "kind": "edit", "content": [diff]}])
    assert [question.whole_file_diffs for question in user.asked] == [[], []]


async def test_remembered_answers_decide_the_same_requests(converse: Converse) -> None:
    user = RememberingUser("allow_always", "reject_always")
    chat = converse(question_handler=user)
    await chat.open()
    listing = {**CALL, "toolCallId": "ls", "rawInput": {"command": "ls"}}
    await chat.prompt(*[["permission", call] for call in (CALL, listing, CALL, listing)])
    assert len(user.asked) == 2
    assert [
        json.loads(line)["outcome"]["optionId"] for line in chat.said().replace("}{", "}\n{").splitlines()
    ] == [
        "allow_once",  # acp-tui remembers the rule, so the agent need not
        "reject_once",
        "allow_once",
        "reject_once",
    ]
    rules = AppContext.open(chat.conversation.cwd).rule_store.rules()
    assert [(rule.decision, rule.scope) for rule in rules] == [("allow", "project"), ("reject", "project")]


async def test_an_answer_names_its_rule_and_counts_its_matches(converse: Converse) -> None:
    chat = converse(question_handler=RememberingUser("allow_always"))
    await chat.open()
    await chat.prompt(*[["permission", CALL]] * 3)
    store = AppContext.open(chat.conversation.cwd).rule_store
    (rule,) = store.rules()
    decided = [entry for entry in chat.conversation.session.entries if isinstance(entry, Permission)]
    assert [(entry.by, entry.rule_ids) for entry in decided] == [
        ("you", [rule.id]),
        ("rule", [rule.id]),
        ("rule", [rule.id]),
    ]
    assert store.matches.read() == {}, "matches are not written during the turn"
    await chat.conversation.close()
    assert store.matches.read()[rule.id].count == 2


async def test_an_answer_that_cannot_be_stored_applies_to_the_session(converse: Converse, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "state").write_text("not a folder")
    user = RememberingUser("allow_always")
    chat = converse(question_handler=user)
    await chat.open()
    await chat.prompt(["permission", CALL], ["permission", CALL])
    assert chat.said().count('"optionId": "allow_') == 2
    assert len(user.asked) == 1
    assert any("applies to this session only" in text for text in chat.notices())


async def test_the_user_is_asked_to_fill_in_a_form(converse: Converse) -> None:
    user = ScriptedUser()
    chat = converse(question_handler=user)
    await chat.open()
    form = {"mode": "form", "message": "Name?", "requestedSchema": {"type": "object", "properties": {}}}
    await chat.prompt(["ask", "elicitation/create", form])
    assert json.loads(chat.said()) == {"action": "accept", "content": {"name": "value"}}
    assert isinstance(user.elicited[0], Elicitation)


# --------------------------------------------------------------------------- stopping


async def test_cancelling_a_turn_answers_its_pending_question(converse: Converse) -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    chat = converse(question_handler=user)
    await chat.open()
    turn = asyncio.ensure_future(chat.prompt(["permission", CALL], ["wait_for_cancel"]))
    await until(lambda: user.asked)
    await chat.conversation.cancel()
    await turn
    assert json.loads(chat.said()) == {"outcome": {"outcome": "cancelled"}}
    assert chat.session.stop_reason == "cancelled"
    assert chat.session.permissions == {}
    [call] = [entry for entry in chat.session.entries if isinstance(entry, ToolCall)]
    assert call.done
    await chat.conversation.close()
    assert_same(chat.session, chat.replayed())


async def test_closing_answers_the_pending_question_and_ends_the_turn(converse: Converse) -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    chat = converse(question_handler=user)
    await chat.open()
    turn = asyncio.ensure_future(chat.prompt(["permission", CALL], ["ignore_client"]))
    await until(lambda: user.asked)
    await chat.conversation.close()
    with pytest.raises(AgentGone):
        await turn
    answers = [
        record.frame for record in chat.records if record.direction == "sent" and "result" in record.frame
    ]
    assert answers[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_closing_during_the_start_leaves_no_process(converse: Converse) -> None:
    chat = converse("faulty", "never_answers")
    starting = asyncio.ensure_future(chat.conversation.start())
    await asyncio.sleep(0)
    await chat.conversation.close()
    with pytest.raises(ConnectionFault):
        await starting
    assert chat.left_behind() == []


async def test_a_closed_conversation_cannot_be_started(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    await asyncio.gather(chat.conversation.close(), chat.conversation.close())
    with pytest.raises(ConnectionFault, match="closed"):
        await chat.conversation.start()


async def test_cancelling_the_start_leaves_no_process(converse: Converse) -> None:
    chat = converse("faulty", "never_answers")
    starting = asyncio.ensure_future(chat.conversation.start())
    await until(chat.left_behind)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await chat.conversation.close()
    assert chat.left_behind() == []


# --------------------------------------------------------------------------- exit and restart of the agent


async def test_an_agent_that_died_can_be_restarted(converse: Converse) -> None:
    offers = json.dumps({"capabilities": {"loadSession": True}})
    chat = converse("script", offers, policy="yolo")
    await chat.open()
    with pytest.raises(AgentGone, match="exited with code 9"):
        await chat.prompt(["ask", "terminal/create", {"command": "sleep 3600"}], ["exit", 9])
    with pytest.raises(AgentGone):
        await chat.prompt(["say", "anybody there?"])
    await restart(chat.conversation)
    assert chat.session.phase == "idle"
    await chat.prompt(["say", "back again"])
    assert chat.said().endswith("back again")
    assert sum(isinstance(entry, UserMessage) for entry in chat.session.entries) >= 2
    await chat.conversation.close()
    assert_same(chat.session, chat.replayed())


async def test_a_restart_ends_the_terminals_of_the_agent(converse: Converse) -> None:
    chat = converse(policy="yolo")
    await chat.open()
    with pytest.raises(AgentGone):
        await chat.prompt(["ask", "terminal/create", {"command": "sleep 3600"}], ["exit", 9])
    [terminal] = [entry for entry in chat.session.entries if isinstance(entry, Terminal)]
    assert terminal.ended_at is None
    await chat.conversation.reconnect()
    assert terminal.ended_at is not None


async def test_an_agent_that_dies_between_turns_is_noticed(converse: Converse) -> None:
    chat = converse()
    await chat.open()
    assert chat.session.process is not None
    assert chat.session.process.pid is not None
    os.kill(chat.session.process.pid, signal.SIGKILL)
    await until(lambda: chat.session.phase == "dead")
    assert any("SIGKILL" in text for text in chat.notices())
    with pytest.raises(AgentGone, match="SIGKILL"):
        await chat.prompt(["say", "hello"])


async def test_an_agent_that_dies_during_initialize_is_an_error(converse: Converse) -> None:
    chat = converse("faulty", "dies_before_initialize")
    with pytest.raises(AgentGone, match="exited with code 3"):
        await chat.conversation.start()
    assert chat.session.phase == "dead"


async def test_an_error_of_the_agent_is_raised_and_stored(converse: Converse) -> None:
    chat = converse("faulty", "errors")
    await chat.open()
    with pytest.raises(RequestFailed, match="it broke"):
        await chat.conversation.prompt([{"type": "text", "text": "plain"}])
    assert chat.session.last_error is not None
    assert chat.session.phase == "idle"


async def test_contents_of_files_that_match_sensitive_patterns_are_not_logged(
    converse: Converse, home: Path
) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text('[workspace]\nsensitive = ["*.vault"]\n')
    offers = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
    chat = converse("script", offers, question_handler=ScriptedUser("allow_once", "allow_once", "allow_once"))
    project = chat.conversation.cwd
    (project / "a.vault").write_text("content of a.vault")
    (project / "link").symlink_to("a.vault")
    await chat.open()
    await chat.prompt(
        *(["ask", "fs/read_text_file", {"path": str(project / name)}] for name in ("a.vault", "link"))
    )
    await chat.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    again = converse("script", offers, question_handler=ScriptedUser("allow_once"), resumed=stored)
    await again.conversation.start()
    await again.conversation.open_known("session-1")
    await again.prompt(
        ["ask", "fs/write_text_file", {"path": str(project / "b.vault"), "content": "content of b.vault"}]
    )
    await again.conversation.close()
    assert "content of a.vault" in chat.said()
    assert (project / "b.vault").read_text() == "content of b.vault"
    frames = [record.frame for record in read_log(Path(chat.conversation.log_path or ""))]
    answers = [frame["result"]["content"] for frame in frames if "content" in (frame.get("result") or {})]
    written = [frame["params"]["content"] for frame in frames if frame.get("method") == "fs/write_text_file"]
    assert (answers, written) == ([MASK, MASK], [MASK])


async def test_the_baseline_is_kept_when_the_conversation_is_closed(
    converse: Converse,
) -> None:
    chat = converse()
    (chat.conversation.cwd / "file").write_text("old")
    await chat.open()
    await chat.prompt(["write_file", str(chat.conversation.cwd / "file"), "new"])
    await restart(chat.conversation)
    assert [change.revertable for change in await chat.conversation.changes()] == [True]
    await chat.conversation.close()
    assert chat.conversation.folder.path is not None
    assert (chat.conversation.folder.path / "baseline.git").is_dir()


async def test_the_baseline_is_deleted_if_nothing_has_changed_and_no_prompt_was_sent(
    converse: Converse,
) -> None:
    chat = converse(can_rewind=True)
    await chat.open()
    await chat.conversation.close()
    assert chat.conversation.folder.path is not None
    assert {path.name for path in chat.conversation.folder.path.iterdir()} == {
        "meta.json",
        "stderr.log",
        "wire.jsonl",
    }


async def test_closing_at_once_leaves_no_baseline(converse: Converse) -> None:
    chat = converse()
    for number in range(500):
        (chat.conversation.cwd / str(number)).write_text(str(number))
    await chat.open()
    await chat.conversation.close()
    assert chat.conversation.folder.path is not None
    assert not (chat.conversation.folder.path / "baseline.git").exists()


async def test_edits_from_before_a_loaded_session_are_not_listed_as_changes(
    converse: Converse, tmp_path: Path
) -> None:
    early, late, offers = tmp_path / "early", tmp_path / "late", {"capabilities": {"loadSession": True}}
    for file in (early, late):
        file.write_text("what the agent wrote last week")
    calls = [
        {
            "sessionUpdate": "tool_call",
            "toolCallId": file.name,
            "title": "Edit",
            "kind": "edit",
            "status": status,
        }
        | {"locations": [{"path": str(file)}]}
        for file, status in ((early, "completed"), (late, "in_progress"))
    ]
    chat = converse("script", json.dumps(offers | {"history": calls}))
    await chat.conversation.start()
    await chat.conversation.open_known("session-1")
    assert {call.status for call in chat.session.tool_calls.values()} == {"completed", "unfinished"}
    await chat.prompt(["say", "hello"])
    assert await chat.conversation.changes() == []
    await chat.prompt(["write_file", str(early), "new"], ["update", calls[0] | {"toolCallId": "again"}])
    assert [(change.path.name, change.revertable) for change in await chat.conversation.changes()] == [
        ("early", True)
    ]


async def test_a_running_write_is_completed_when_the_turn_is_cancelled(
    converse: Converse, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, may_finish, rename = threading.Event(), threading.Event(), os.rename

    def slow_rename(*args: Any, **named: Any) -> None:
        started.set()
        may_finish.wait()
        rename(*args, **named)

    monkeypatch.setattr(os, "rename", slow_rename)
    chat = converse(policy="yolo")
    file = chat.conversation.cwd / "file"
    await chat.open()
    turn = asyncio.create_task(
        chat.prompt(["ask", "fs/write_text_file", {"path": str(file), "content": "new"}], ["wait_for_cancel"])
    )
    await until(started.is_set)
    cancel = asyncio.create_task(chat.conversation.cancel())
    await until(lambda: chat.session.cancelling or turn.done())
    assert not file.exists()
    may_finish.set()
    await asyncio.gather(cancel, turn)
    assert json.loads(chat.said()) == {}
    assert file.read_text() == "new"


async def test_resuming_closes_what_a_killed_client_left_open(converse: Converse, home: Path) -> None:
    offers = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
    first = converse("script", offers, policy="yolo")
    await first.open()
    await first.conversation.user_commands.run("cat")
    turn = asyncio.create_task(
        first.prompt(
            ["update", {"sessionUpdate": "tool_call", **CALL, "status": "in_progress"}],
            ["ask", "terminal/create", {"command": "cat"}],
            ["wait_for_cancel"],
        )
    )
    await until(lambda: "terminalId" in first.said())
    log = Path(first.conversation.log_path or "")
    cut_off = log.read_bytes()
    await first.conversation.close()
    await asyncio.wait([turn])
    log.write_bytes(cut_off)
    [stored] = [AppContext.open(home).stored("session-1")]
    second = converse("script", offers, resumed=stored)
    await second.conversation.start()
    await second.conversation.open_known("session-1")
    await second.conversation.close()
    terminals = second.session.terminals.values()
    assert {terminal.owner for terminal in terminals} == {"client", "user"}
    assert all(terminal.ended_at is not None for terminal in terminals)
    assert second.session.tool_calls["call"].status == "unfinished"
    assert_same(second.session, second.replayed())

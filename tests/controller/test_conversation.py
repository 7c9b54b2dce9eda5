"""A conversation from its start to its end, with real agents and nobody in front of a screen."""

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
from acp_tui.config.mcp import from_json_file
from acp_tui.connection.errors import AgentGone, ConnectionFault, NotSupported, RequestFailed
from acp_tui.controller import Answer, SignInNeeded
from acp_tui.errors import UserError
from acp_tui.protocol.fold import Fold
from acp_tui.session.state import Diff, Elicitation, Permission, Terminal, ToolCall, UserMessage
from acp_tui.session.text import MAX_KEPT_PER_END
from acp_tui.store.secret_patterns import MASK
from acp_tui.store.wire_log import read_log
from tests.controller.conftest import restart
from tests.support.controller import Person
from tests.support.waiting import until

if TYPE_CHECKING:
    from acp_tui.controller import Question
    from acp_tui.session.state import Entry, Session
    from tests.controller.conftest import Hold

CALL = {"toolCallId": "call", "title": "Run it", "kind": "execute", "rawInput": {"command": "make"}}


def shown(entry: Entry) -> str:
    """All of an entry; output comes back in other pieces, so not how often it changed."""
    return repr(dataclasses.replace(entry, version=0) if isinstance(entry, Terminal) else entry)


def same(live: Session, replayed: Session) -> None:
    """Every entry and every fact of the two sessions."""
    assert [shown(entry) for entry in live.entries] == [shown(entry) for entry in replayed.entries]
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


# --------------------------------------------------------------------------- what is kept


async def test_folding_the_log_gives_the_session_that_was_lived(hold: Hold) -> None:
    held = hold(policy="yolo")
    await held.open()
    await held.prompt(
        ["say", "so", " \x1b[31m", "\ud83d", "\ude00"],
        ["update", {"sessionUpdate": "plan", "entries": [{"content": "x", "status": "pending"}]}],
        ["permission", CALL],
        ["ask", "fs/write_text_file", {"path": str(held.conversation.cwd / "new.txt"), "content": "new"}],
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
    await held.conversation.close()
    assert held.session.stop_reason == "max_tokens"
    same(held.session, held.replayed())


async def test_what_an_agent_that_died_left_is_the_same_in_the_log(hold: Hold) -> None:
    held = hold()
    await held.open()
    with pytest.raises(AgentGone):
        await held.prompt(["say", "then"], ["complain", "last words"], ["exit", 9])
    await held.conversation.close()
    assert held.session.phase == "dead"
    same(held.session, held.replayed())


async def test_of_much_terminal_output_the_head_and_the_tail_are_kept(hold: Hold) -> None:
    held = hold(policy="yolo")
    await held.open()
    lines = "import sys\nfor n in range(300000): sys.stdout.write('line %d\\n' % n)"
    await held.prompt(
        [
            "ask",
            "terminal/create",
            {"command": sys.executable, "args": ["-c", lines], "outputByteLimit": 100},
        ],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
    )
    [live] = [entry for entry in held.session.entries if isinstance(entry, Terminal)]
    await held.conversation.close()
    [replayed] = [entry for entry in held.replayed().entries if isinstance(entry, Terminal)]
    assert live.output.head.startswith("line 0")
    assert live.output.tail.rstrip().endswith("line 299999")
    assert (replayed.output.head, replayed.output.tail, replayed.output.skipped) == (
        live.output.head,
        live.output.tail,
        live.output.skipped,
    )
    assert live.output.skipped > 0
    assert len(live.output.head) + len(live.output.tail) <= 2 * MAX_KEPT_PER_END
    assert os.path.getsize(held.conversation.log_path or "") < 4 * MAX_KEPT_PER_END  # noqa: PTH202


async def test_a_session_that_goes_on_keeps_its_past_and_gives_new_terminals(hold: Hold, home: Path) -> None:
    offers = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
    echo = [
        ["ask", "terminal/create", {"command": "echo", "args": ["one"]}],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
    ]
    first = hold("script", offers, policy="yolo")
    await first.open()
    await first.prompt(*echo)
    await first.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    second = hold("script", offers, policy="yolo", resumed=stored)
    await second.conversation.start()
    await second.conversation.open_known("session-1")
    await second.prompt(*echo)
    await second.conversation.close()
    terminals = [entry for entry in second.session.entries if isinstance(entry, Terminal)]
    assert [(one.terminal_id, one.output.head.strip()) for one in terminals] == [
        ("term-1", "one"),
        ("term-2", "one"),
    ]
    same(second.session, second.replayed())


async def test_without_a_log_all_works(hold: Hold) -> None:
    held = hold(keep_log=False)
    await held.open()
    await held.prompt(["disk", str(held.conversation.cwd / "new.txt"), "x"], ["say", "hello"])
    assert held.said() == "hello"
    assert held.conversation.log_path is None
    assert [change.kind for change in await held.conversation.changes()] == ["added"]


# --------------------------------------------------------------------------- opening


async def test_servers_and_folders_that_the_agent_does_not_take_are_said(hold: Hold, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": "https://example.com"}}}))
    held = hold(servers=from_json_file(file), directories=[tmp_path])
    await held.open()
    first, second = held.notices()
    assert "takes no additional directories" in first
    assert "The MCP server web is left out" in second


async def test_servers_that_nobody_wants_are_left_out_without_a_word(hold: Hold, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    servers = {"off": {"command": sys.executable, "disabled": True}, "on": {"command": sys.executable}}
    file.write_text(json.dumps({"mcpServers": servers}))
    held = hold(servers=from_json_file(file))
    await held.open()
    assert held.notices() == []
    told = {server.name: server.reason_not_sent for server in held.conversation.mcp_servers}
    assert told == {"off": "it is disabled", "on": None}


async def test_updates_of_another_session_are_kept_apart(hold: Hold) -> None:
    held = hold()
    await held.open()
    text = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "for somebody"}}
    await held.prompt(["update", text, "another"], ["say", "for us"])
    assert held.said() == "for us"


async def test_nothing_can_be_asked_before_the_agent_runs(hold: Hold) -> None:
    held = hold()
    for call in (held.conversation.open_new, held.conversation.cancel):
        with pytest.raises((NotSupported, AssertionError, UserError)):
            await call()


async def test_a_program_that_is_missing_is_in_the_log(hold: Hold) -> None:
    held = hold()
    held.conversation.launch.command[:] = ["no-such-program"]
    with pytest.raises(ConnectionFault, match="not found in PATH"):
        await held.conversation.start()
    assert held.session.phase == "dead"


async def test_a_sign_in_is_asked_for_with_the_ways_to_do_it(hold: Hold) -> None:
    held = hold("faulty", "demands_authentication")
    await held.conversation.start()
    with pytest.raises(SignInNeeded) as caught:
        await held.conversation.open_new()
    assert [method.id for method in caught.value.methods] == ["login", "shell", "waits"]
    await held.conversation.sign_in("login")
    await held.conversation.open_new()
    assert held.session.session_id == "session-1"


# --------------------------------------------------------------------------- asking


async def test_a_person_is_asked_and_their_answer_is_the_agents_option(hold: Hold) -> None:
    person = Person("allow_always", "reject_once")
    held = hold(question_handler=person)
    await held.open()
    await held.prompt(["permission", CALL], ["permission", {**CALL, "toolCallId": "second"}])
    assert '"optionId": "allow_always"' in held.said()
    assert '"optionId": "reject_once"' in held.said()
    assert person.asked[0].subject.description == "run `make`"
    assert person.asked[0].why
    permissions = [entry for entry in held.session.entries if isinstance(entry, Permission)]
    assert [entry.option.kind for entry in permissions if entry.option] == ["allow_always", "reject_once"]


async def test_a_write_is_asked_about_with_what_stands_there(hold: Hold) -> None:
    person = Person("allow_once")
    held = hold(question_handler=person)
    path = held.conversation.cwd / "notes.txt"
    path.write_text("before\n")
    await held.open()
    await held.prompt(["ask", "fs/write_text_file", {"path": str(path), "content": "after\n"}])
    [question] = person.asked
    assert (question.kind, question.old_text, question.new_text) == ("write", "before\n", "after\n")
    assert path.read_text() == "after\n"


async def test_a_write_without_a_call_is_shown_with_its_difference_and_in_the_log(hold: Hold) -> None:
    held = hold(policy="accept-edits")
    path = held.conversation.cwd / "notes.txt"
    path.write_text("before\n")
    await held.open()
    await held.prompt(
        ["ask", "fs/read_text_file", {"path": str(path)}],
        ["ask", "fs/write_text_file", {"path": str(path), "content": "after\n"}],
    )
    live, replayed = held.session, Fold()
    for record in held.records:
        replayed.apply(record)
    for session in (live, replayed.session):
        read, write = (entry for entry in session.entries if isinstance(entry, ToolCall))
        assert (read.title, write.title) == ("Read notes.txt", "Write notes.txt")
        assert write.content == [Diff(str(path), "before\n", "after\n")]


class Slow(Person):
    """Takes its time."""

    async def ask(self, question: Question) -> Answer:
        began = time.time()
        while time.time() - began < 0.02:  # noqa: ASYNC110  # time is what it waits for
            await asyncio.sleep(0)
        return await super().ask(question)


async def test_how_long_an_answer_took_is_kept_from_the_time_of_the_call(hold: Hold) -> None:
    held = hold(question_handler=Slow("allow_once"))
    await held.open()
    begun = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Write", "kind": "edit"}
    path = str(held.conversation.cwd / "new.txt")
    await held.prompt(
        ["update", begun],
        ["ask", "fs/write_text_file", {"path": path, "content": "x"}],
        ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}],
    )
    frames = [record.frame for record in held.records if record.direction == "client"]
    [decided] = [frame for frame in frames if frame["event"] == "decided"]
    assert decided["waited"] >= 0.02
    assert held.session.tool_calls["t"].waited == decided["waited"]


@pytest.mark.parametrize(
    ("old", "more", "whole"),
    [
        ("two", {}, ("one two\nthree\nthree\n", "one 2\nthree\nthree\n")),
        ("three", {"replace_all": True}, ("one two\nthree\nthree\n", "one two\n2\n2\n")),
        ("three", {}, None),  # which of them?
        ("four", {}, None),
    ],
)
async def test_words_to_be_replaced_are_asked_about_in_their_file(
    hold: Hold, old: str, more: dict[str, Any], whole: tuple[str, str] | None
) -> None:
    person = Person("allow_once")
    held = hold(question_handler=person)
    path = held.conversation.cwd / "notes.txt"
    path.write_bytes(b"one two\r\nthree\r\nthree\r\n")
    await held.open()
    diff = {"type": "diff", "path": str(path), "oldText": old, "newText": "2"}
    call = {"title": "Edit", "kind": "edit", "content": [diff], "rawInput": {"old_string": old, **more}}
    await held.prompt(["permission", call])
    [question] = person.asked
    assert [(diff.old, diff.new) for _, diff in question.whole_file_diffs] == ([whole] if whole else [])


async def test_no_file_is_read_for_a_question_that_may_not_be(hold: Hold, tmp_path: Path) -> None:
    person = Person("reject_once", "reject_once")
    held = hold(question_handler=person)
    await held.open()
    for path in (tmp_path / "outside.txt", held.conversation.cwd / ".env"):
        path.write_text("KEY=two, and more\n")
        diff = {"type": "diff", "path": str(path), "oldText": "two", "newText": "2"}
        await held.prompt(["permission", {"title": "Edit", "kind": "edit", "content": [diff]}])
    assert [question.whole_file_diffs for question in person.asked] == [[], []]


class Remembering(Person):
    """Says “always”."""

    async def ask(self, question: Question) -> Answer:
        return dataclasses.replace(await super().ask(question), remember=True)


async def test_an_answer_is_remembered_for_what_it_was_given(hold: Hold) -> None:
    person = Remembering("allow_always", "reject_always")
    held = hold(question_handler=person)
    await held.open()
    listing = {**CALL, "toolCallId": "ls", "rawInput": {"command": "ls"}}
    await held.prompt(*[["permission", call] for call in (CALL, listing, CALL, listing)])
    assert len(person.asked) == 2
    assert [
        json.loads(line)["outcome"]["optionId"] for line in held.said().replace("}{", "}\n{").splitlines()
    ] == [
        "allow_once",  # the rule is ours: nothing is written into the agent's own memory
        "reject_once",
        "allow_once",
        "reject_once",
    ]
    rules = AppContext.open(held.conversation.cwd).rule_store.rules()
    assert [(rule.decision, rule.scope) for rule in rules] == [("allow", "project"), ("reject", "project")]


async def test_an_answer_that_cannot_be_written_down_counts_all_the_same(hold: Hold, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "state").write_text("in the way")
    person = Remembering("allow_always")
    held = hold(question_handler=person)
    await held.open()
    await held.prompt(["permission", CALL], ["permission", CALL])
    assert held.said().count('"optionId": "allow_') == 2
    assert len(person.asked) == 1
    assert any("applies to this session only" in text for text in held.notices())


async def test_a_form_is_put_to_the_person(hold: Hold) -> None:
    person = Person()
    held = hold(question_handler=person)
    await held.open()
    form = {"mode": "form", "message": "Name?", "requestedSchema": {"type": "object", "properties": {}}}
    await held.prompt(["ask", "elicitation/create", form])
    assert json.loads(held.said()) == {"action": "accept", "content": {"name": "value"}}
    assert isinstance(person.elicited[0], Elicitation)


# --------------------------------------------------------------------------- stopping


async def test_cancelling_answers_what_is_pending_before_the_turn_ends(hold: Hold) -> None:
    person = Person(thinking=asyncio.Event())
    held = hold(question_handler=person)
    await held.open()
    turn = asyncio.ensure_future(held.prompt(["permission", CALL], ["wait"]))
    await until(lambda: person.asked)
    await held.conversation.cancel()
    await turn
    assert json.loads(held.said()) == {"outcome": {"outcome": "cancelled"}}
    assert held.session.stop_reason == "cancelled"
    assert held.session.permissions == {}
    [call] = [entry for entry in held.session.entries if isinstance(entry, ToolCall)]
    assert call.done
    await held.conversation.close()
    same(held.session, held.replayed())


async def test_closing_answers_what_is_pending_and_ends_the_turn(hold: Hold) -> None:
    person = Person(thinking=asyncio.Event())
    held = hold(question_handler=person)
    await held.open()
    turn = asyncio.ensure_future(held.prompt(["permission", CALL], ["ignore"]))
    await until(lambda: person.asked)
    await held.conversation.close()
    with pytest.raises(AgentGone):
        await turn
    answers = [
        record.frame for record in held.records if record.direction == "sent" and "result" in record.frame
    ]
    assert answers[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_closing_while_the_agent_starts_leaves_nothing(hold: Hold) -> None:
    held = hold("faulty", "never_answers")
    starting = asyncio.ensure_future(held.conversation.start())
    await asyncio.sleep(0)
    await held.conversation.close()
    with pytest.raises(ConnectionFault):
        await starting
    assert held.left_behind() == []


async def test_a_closed_conversation_stays_closed(hold: Hold) -> None:
    held = hold()
    await held.open()
    await asyncio.gather(held.conversation.close(), held.conversation.close())
    with pytest.raises(ConnectionFault, match="closed"):
        await held.conversation.start()


async def test_giving_up_a_start_leaves_nothing(hold: Hold) -> None:
    held = hold("faulty", "never_answers")
    starting = asyncio.ensure_future(held.conversation.start())
    await until(held.left_behind)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await held.conversation.close()
    assert held.left_behind() == []


# --------------------------------------------------------------------------- death and return


async def test_an_agent_that_died_can_be_started_again_and_goes_on(hold: Hold) -> None:
    offers = json.dumps({"capabilities": {"loadSession": True}})
    held = hold("script", offers, policy="yolo")
    await held.open()
    with pytest.raises(AgentGone, match="exited with code 9"):
        await held.prompt(["ask", "terminal/create", {"command": "sleep 3600"}], ["exit", 9])
    with pytest.raises(AgentGone):
        await held.prompt(["say", "anybody there?"])
    await restart(held.conversation)
    assert held.session.phase == "idle"
    await held.prompt(["say", "back again"])
    assert held.said().endswith("back again")
    assert sum(isinstance(entry, UserMessage) for entry in held.session.entries) >= 2
    await held.conversation.close()
    same(held.session, held.replayed())


async def test_a_restart_ends_the_terminals_of_the_agent_that_is_gone(hold: Hold) -> None:
    held = hold(policy="yolo")
    await held.open()
    with pytest.raises(AgentGone):
        await held.prompt(["ask", "terminal/create", {"command": "sleep 3600"}], ["exit", 9])
    [terminal] = [entry for entry in held.session.entries if isinstance(entry, Terminal)]
    assert terminal.ended_at is None
    await held.conversation.reconnect()
    assert terminal.ended_at is not None


async def test_an_agent_that_dies_between_turns_is_seen(hold: Hold) -> None:
    held = hold()
    await held.open()
    assert held.session.process is not None
    assert held.session.process.pid is not None
    os.kill(held.session.process.pid, signal.SIGKILL)
    await until(lambda: held.session.phase == "dead")
    assert any("SIGKILL" in text for text in held.notices())
    with pytest.raises(AgentGone, match="SIGKILL"):
        await held.prompt(["say", "hello"])


async def test_an_agent_that_dies_while_it_starts_says_so(hold: Hold) -> None:
    held = hold("faulty", "dies_before_initialize")
    with pytest.raises(AgentGone, match="exited with code 3"):
        await held.conversation.start()
    assert held.session.phase == "dead"


async def test_an_error_of_the_agent_is_raised_and_kept(hold: Hold) -> None:
    held = hold("faulty", "errors")
    await held.open()
    with pytest.raises(RequestFailed, match="it broke"):
        await held.conversation.prompt([{"type": "text", "text": "plain"}])
    assert held.session.last_error is not None
    assert held.session.phase == "idle"


async def test_what_files_hold_that_the_settings_call_sensitive_is_in_no_log(hold: Hold, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text('[workspace]\nsensitive = ["*.vault"]\n')
    offers = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
    held = hold("script", offers, question_handler=Person("allow_once", "allow_once", "allow_once"))
    project = held.conversation.cwd
    (project / "a.vault").write_text("moved to the garden")
    (project / "link").symlink_to("a.vault")
    await held.open()
    await held.prompt(
        *(["ask", "fs/read_text_file", {"path": str(project / name)}] for name in ("a.vault", "link"))
    )
    await held.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    again = hold("script", offers, question_handler=Person("allow_once"), resumed=stored)
    await again.conversation.start()
    await again.conversation.open_known("session-1")
    await again.prompt(
        ["ask", "fs/write_text_file", {"path": str(project / "b.vault"), "content": "the beans"}]
    )
    await again.conversation.close()
    assert "moved to the garden" in held.said()
    assert (project / "b.vault").read_text() == "the beans"
    frames = [record.frame for record in read_log(Path(held.conversation.log_path or ""))]
    answers = [frame["result"]["content"] for frame in frames if "content" in (frame.get("result") or {})]
    written = [frame["params"]["content"] for frame in frames if frame.get("method") == "fs/write_text_file"]
    assert (answers, written) == ([MASK, MASK], [MASK])


async def test_the_copies_of_the_project_are_kept_until_the_conversation_is_closed(hold: Hold) -> None:
    held = hold()
    (held.conversation.cwd / "file").write_text("old")
    await held.open()
    await held.prompt(["disk", str(held.conversation.cwd / "file"), "new"])
    await restart(held.conversation)
    assert [change.revertable for change in await held.conversation.changes()] == [True]
    await held.conversation.close()
    assert held.conversation.folder.path is not None
    assert {path.name for path in held.conversation.folder.path.iterdir()} == {
        "meta.json",
        "stderr.log",
        "wire.jsonl",
    }


async def test_closing_at_once_leaves_no_copies_of_the_project(hold: Hold) -> None:
    held = hold()
    for number in range(500):
        (held.conversation.cwd / str(number)).write_text(str(number))
    await held.open()
    await held.conversation.close()
    assert held.conversation.folder.path is not None
    assert not (held.conversation.folder.path / "baseline.git").exists()


async def test_what_was_changed_before_a_session_was_loaded_is_no_change_of_now(
    hold: Hold, tmp_path: Path
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
    held = hold("script", json.dumps(offers | {"history": calls}))
    await held.conversation.start()
    await held.conversation.open_known("session-1")
    assert {call.status for call in held.session.tool_calls.values()} == {"completed", "unfinished"}
    await held.prompt(["say", "hello"])
    assert await held.conversation.changes() == []
    await held.prompt(["disk", str(early), "new"], ["update", calls[0] | {"toolCallId": "again"}])
    assert [(change.path.name, change.revertable) for change in await held.conversation.changes()] == [
        ("early", True)
    ]


async def test_a_write_that_has_begun_when_the_turn_is_cancelled_is_answered_as_it_ends(
    hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end, rename = threading.Event(), threading.Event(), os.rename

    def slow_rename(*args: Any, **named: Any) -> None:
        begun.set()
        may_end.wait()
        rename(*args, **named)

    monkeypatch.setattr(os, "rename", slow_rename)
    held = hold(policy="yolo")
    file = held.conversation.cwd / "file"
    await held.open()
    turn = asyncio.create_task(
        held.prompt(["ask", "fs/write_text_file", {"path": str(file), "content": "new"}], ["wait"])
    )
    await until(begun.is_set)
    cancel = asyncio.create_task(held.conversation.cancel())
    await until(lambda: held.session.cancelling or turn.done())
    assert not file.exists()
    may_end.set()
    await asyncio.gather(cancel, turn)
    assert json.loads(held.said()) == {}
    assert file.read_text() == "new"


async def test_what_a_killed_client_left_open_is_closed_when_its_session_goes_on(
    hold: Hold, home: Path
) -> None:
    offers = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
    first = hold("script", offers, policy="yolo")
    await first.open()
    await first.conversation.user_commands.run("cat")
    turn = asyncio.create_task(
        first.prompt(
            ["update", {"sessionUpdate": "tool_call", **CALL, "status": "in_progress"}],
            ["ask", "terminal/create", {"command": "cat"}],
            ["wait"],
        )
    )
    await until(lambda: "terminalId" in first.said())
    log = Path(first.conversation.log_path or "")
    cut_off = log.read_bytes()
    await first.conversation.close()
    await asyncio.wait([turn])
    log.write_bytes(cut_off)
    [stored] = [AppContext.open(home).stored("session-1")]
    second = hold("script", offers, resumed=stored)
    await second.conversation.start()
    await second.conversation.open_known("session-1")
    await second.conversation.close()
    terminals = second.session.terminals.values()
    assert {terminal.owner for terminal in terminals} == {"client", "user"}
    assert all(terminal.ended_at is not None for terminal in terminals)
    assert second.session.tool_calls["call"].status == "unfinished"
    same(second.session, second.replayed())

"""MCP servers that an agent reaches through the bridge, with real processes."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli.mcp.inspections import inspect_servers
from acp_tui.config.mcp_sources import from_json_file
from acp_tui.config.paths import paths
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.state import Permission
from acp_tui.store.mcp_facts import McpFacts, ToolChanges
from acp_tui.store.mcp_log import McpLog
from tests.support.mcp_servers import stdio_command
from tests.support.scripted_conversation import ScriptedUser
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.config.mcp import Server
    from acp_tui.controller import FormRequest
    from tests.controller.conftest import Converse
    from tests.support.mcp_servers import ServerLog
    from tests.support.scripted_conversation import ScriptedConversation

ECHO = {"text": "hello"}
ASKED = {
    "title": "script - echo",
    "rawInput": ECHO,
    "_meta": {"claudeCode": {"toolName": "mcp__script__echo"}},
}


def bridged(folder: Path, **options: Any) -> Server:
    """Return a server that agents get through the bridge."""
    command, *args = stdio_command()
    entry = {"command": command, "args": args, "connection": "bridge", **options}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"script": entry}}))
    return from_json_file(file)[0]


async def call(chat: ScriptedConversation, arguments: dict[str, Any] = ECHO, tool: str = "echo") -> None:
    await chat.prompt(["call_tool", tool, arguments, "script"])


async def test_a_call_is_asked_about_recorded_and_replayed(
    converse: Converse, tmp_path: Path, server_log: ServerLog
) -> None:
    user = ScriptedUser("allow_once")
    server = bridged(tmp_path)
    chat = converse(servers=[server], question_handler=user)
    await chat.open()
    await call(chat)
    assert chat.said() == "hello\n"
    [question] = user.asked
    assert question.call is not None
    assert question.call.title == "script › echo"
    assert question.call.raw_input == ECHO
    subject = question.subject
    assert (subject.kind, subject.server, subject.tool) == ("mcp", "script", "echo")
    assert server_log.calls() == [("echo", ECHO)]
    await until(lambda: chat.session.mcp_calls)
    [recorded] = chat.session.mcp_calls
    assert (recorded.server, recorded.tool, recorded.raw_arguments) == ("script", "echo", ECHO)
    assert recorded.raw_result == {"content": [{"type": "text", "text": "hello"}]}
    assert chat.replayed().mcp_calls == chat.session.mcp_calls
    facts = McpFacts(paths().state)
    await until(lambda: facts.read("script", server.digest()).used)
    saved = facts.read("script", server.digest())
    assert saved.sent is not None
    assert saved.used is not None
    assert (saved.used.tool, saved.used.evidence) == ("echo", "the bridge")
    assert [
        entry["tool"] for entry in McpLog(paths().state, "script", str(tmp_path / "mcp.json")).read()
    ] == ["echo"]


async def test_what_the_agent_has_just_asked_is_not_asked_again(converse: Converse, tmp_path: Path) -> None:
    user = ScriptedUser("allow_once", "reject_once", "reject_once")
    chat = converse(servers=[bridged(tmp_path)], question_handler=user)
    await chat.open()
    tool_call = ["call_tool", "echo", ECHO, "script"]
    await chat.prompt(["permission", ASKED], tool_call, ["call_tool", "echo", {"text": "other"}, "script"])
    assert chat.said().endswith("hello\n✘ The user rejected the call.\n")
    await chat.prompt(tool_call)  # the permission was for one call
    assert chat.said().endswith("✘ The user rejected the call.\n" * 2)
    assert [question.kind for question in user.asked] == ["permission", "mcp", "mcp"]


@pytest.mark.parametrize(
    "asked",
    [
        {"title": "mcp__script__echo", "kind": "other"},  # Kimi Code
        {"title": "echo (script MCP Server)", "kind": "other"},  # Gemini
    ],
)
async def test_a_call_whose_arguments_the_agent_does_not_name_is_asked_about_once_at_the_bridge(
    converse: Converse, tmp_path: Path, asked: dict[str, Any]
) -> None:
    user = ScriptedUser("reject_once")
    chat = converse(servers=[bridged(tmp_path)], question_handler=user)
    await chat.open()
    await chat.prompt(["permission", asked], ["call_tool", "echo", ECHO, "script"])
    assert chat.said().endswith("✘ The user rejected the call.\n")
    [question] = user.asked
    assert question.call is not None
    assert (question.kind, question.call.raw_input) == ("mcp", ECHO)
    [record] = [entry for entry in chat.session.entries if isinstance(entry, Permission)]
    assert (record.by, record.outcome) == ("bridge", "selected")


CODEX: dict[str, Any] = {
    "title": "mcp.script.echo",
    "kind": "execute",
    "rawInput": {"server": "script", "tool": "echo", "arguments": ECHO},
    "_meta": {"is_mcp_tool_call": True},
}
VIBE: dict[str, Any] = {
    "title": "Echo",
    "kind": "other",
    "rawInput": ECHO,
    "_meta": {"tool_name": "mcp_script.echo"},
}
KIMI_CLI: dict[str, Any] = {
    "title": "echo: hello",
    "content": [{"type": "content", "content": {"type": "text", "text": json.dumps(ECHO)}}],
}
KIMI_CLI_QUESTION = "Requesting approval to perform: Call MCP tool `echo`."


@pytest.mark.parametrize("call", [CODEX, VIBE, KIMI_CLI], ids=["codex", "vibe", "kimi-cli"])
async def test_a_call_with_arguments_in_the_form_of_an_agent_is_asked_about_once(
    converse: Converse, tmp_path: Path, call: dict[str, Any]
) -> None:
    user = ScriptedUser("allow_once", "reject_once")
    chat = converse(servers=[bridged(tmp_path)], question_handler=user)
    await chat.open()
    announced = {"sessionUpdate": "tool_call", "toolCallId": "call", "status": "in_progress", **call}
    asked: dict[str, Any] = {"status": "pending"}
    if call is KIMI_CLI:
        text = {"type": "text", "text": KIMI_CLI_QUESTION}
        asked = {"title": call["title"], "content": [{"type": "content", "content": text}]}
    other = ["call_tool", "echo", {"text": "other"}, "script"]
    await chat.prompt(
        ["update", announced], ["permission", asked], ["call_tool", "echo", ECHO, "script"], other
    )
    assert chat.said().endswith("hello\n✘ The user rejected the call.\n")
    assert [question.kind for question in user.asked] == ["permission", "mcp"]


async def test_a_reject_rule_applies_although_the_question_was_unclear(
    converse: Converse, tmp_path: Path, server_log: ServerLog
) -> None:
    user = ScriptedUser()
    chat = converse(
        servers=[bridged(tmp_path)],
        question_handler=user,
        run_rules=[parse_spec("mcp:script/echo", "reject")],
    )
    await chat.open()
    asked = ["permission", {"title": "mcp__script__echo", "kind": "other"}]
    await chat.prompt(asked, ["call_tool", "echo", ECHO, "script"])
    assert user.asked == []
    assert "✘ The call is not allowed: rejected by rule" in chat.said()
    assert server_log.calls() == []


async def test_a_tool_that_has_changed_is_asked_about_in_spite_of_a_rule(
    converse: Converse, tmp_path: Path, server_log: ServerLog
) -> None:
    user = ScriptedUser("reject_once", "allow_once")
    chat = converse(
        servers=[bridged(tmp_path)],
        question_handler=user,
        run_rules=[parse_spec("mcp:script", "allow")],
    )
    await chat.open()
    await call(chat)
    await call(chat, {}, "change")
    assert user.asked == []
    await call(chat)
    assert chat.said().endswith("✘ The user rejected the call.\n")
    assert "its description or schema has changed since you accepted it" in user.asked[0].why
    await call(chat)  # the user agrees to the tool as it is now
    await call(chat)
    assert len(user.asked) == 2
    assert [name for name, _ in server_log.calls()] == ["echo", "change", "echo", "echo"]


async def test_the_first_call_accepts_the_whole_list_of_tools(converse: Converse, tmp_path: Path) -> None:
    # The same definition with other tools, as after an update of the server.
    options, server = tmp_path / "options", bridged(tmp_path)
    options.write_text("")
    server.args = ["-c", 'exec "$@" $(cat "$0")', str(options), server.command, *server.args]
    server.command = "/bin/sh"
    user = ScriptedUser("reject_once", "reject_once")
    rules = [parse_spec("mcp:script/*", "allow")]
    chat = converse(servers=[server], question_handler=user, run_rules=rules)
    await chat.open()
    await call(chat, {"a": 1}, "add")
    [first] = await inspect_servers([server], source="test")
    assert (first.tools.changes, first.tools.newly_accepted) == (ToolChanges(), None)
    options.write_text("--changed")
    later = converse(servers=[server], question_handler=user, run_rules=rules)
    await later.open()
    await call(later, {"steps": 1}, "progress")
    assert user.asked == []
    await call(later)  # its description has changed
    await call(later, {"text": "hello"}, "added")
    changed, added = (question.why for question in user.asked)
    assert "its description or schema has changed since you accepted it" in changed
    assert "it is not among the tools of the server that you accepted" in added


async def test_accepted_tools_that_cannot_be_saved_are_asked_about_once(
    converse: Converse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bool:
        raise OSError(28, "No space left on device")

    user = ScriptedUser("allow_once")
    chat = converse(
        servers=[bridged(tmp_path)],
        question_handler=user,
        run_rules=[parse_spec("mcp:script", "allow")],
    )
    await chat.open()
    monkeypatch.setattr(McpFacts, "_change_all", fail)
    await call(chat, {}, "change")
    for _ in range(3):
        await call(chat)
    assert len(user.asked) == 1
    assert "its description or schema has changed since you accepted it" in user.asked[0].why
    sentence = "The accepted tools of the MCP server script cannot be saved (No space left on device)."
    assert any(notice.startswith(sentence) for notice in chat.notices())


async def test_a_question_ends_before_the_agent_gives_up(converse: Converse, tmp_path: Path) -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    chat = converse(servers=[bridged(tmp_path, timeout=100)], question_handler=user)
    await chat.open()
    await call(chat)
    assert chat.said() == "✘ The call is not allowed: nobody answered within 0.05 seconds.\n"
    text = "Rejected: use `echo` of the MCP server script (nobody answered within 0.05 seconds)"
    assert chat.notices()[-1] == text
    await until(lambda: chat.session.mcp_calls)
    assert chat.session.mcp_calls[0].error is not None


async def test_stopping_the_turn_refuses_a_call_that_waits(converse: Converse, tmp_path: Path) -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    chat = converse(servers=[bridged(tmp_path)], question_handler=user)
    await chat.open()
    turn = asyncio.create_task(call(chat))
    await until(lambda: user.asked)
    await chat.conversation.cancel()
    await turn
    assert chat.said() == "✘ The turn was stopped.\n"


@pytest.mark.parametrize(("policy", "answer"), [("deny", "✘ The call is not allowed: "), ("yolo", "hello\n")])
async def test_without_a_user_the_policy_decides(
    policy: str, answer: str, converse: Converse, tmp_path: Path
) -> None:
    chat = converse(servers=[bridged(tmp_path)], policy=policy)
    await chat.open()
    await call(chat)
    assert chat.said().startswith(answer)


async def test_bridges_end_with_the_agent_and_work_after_a_restart(
    converse: Converse, tmp_path: Path, server_log: ServerLog
) -> None:
    chat = converse(servers=[bridged(tmp_path)], policy="yolo")
    conversation = await chat.open()
    await call(chat)
    await conversation.reconnect()
    await conversation.open_new()
    await call(chat)
    assert chat.said() == "hello\nhello\n"
    pids = {message["pid"] for message in server_log.messages("tools/call")}
    assert len(pids) == 2


async def test_the_status_says_what_goes_through_the_bridge(converse: Converse, tmp_path: Path) -> None:
    chat = converse(servers=[bridged(tmp_path)])
    conversation = await chat.open()
    [status] = conversation.mcp_servers
    assert (status.name, status.transport, status.reason_not_sent) == ("script", "stdio", None)
    assert status.bridge_reason == 'its connection is set to "bridge"'


async def test_a_server_asks_the_user_with_a_form(converse: Converse, tmp_path: Path) -> None:
    async def fill_form(form: FormRequest) -> FormAnswer:
        assert (form.server, form.message) == ("script", "Who are you?")
        return FormAnswer("accept", {"name": "Ada"})

    chat = converse(servers=[bridged(tmp_path)], policy="yolo")
    chat.conversation.bridges.fill_form = fill_form
    await chat.open()
    await call(chat, {}, "ask")
    assert json.loads(chat.said()) == {"action": "accept", "content": {"name": "Ada"}}
    await call(chat, {"text": "a line"}, "log")
    log = McpLog(paths().state, "script", str(tmp_path / "mcp.json"))
    await until(lambda: [record for record in log.read() if record["kind"] == "log"])
    [logged] = [record for record in log.read() if record["kind"] == "log"]
    assert (logged["level"], logged["logger"], logged["data"]) == ("info", "test", "a line")

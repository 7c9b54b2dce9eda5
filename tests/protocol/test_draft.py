"""The 0.1.0 draft of the protocol: handshake, turns, message forms and prompts."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.protocol.draft import prompt_text
from acp_tui.session.state import (
    AgentMessage,
    Content,
    Diff,
    Notice,
    Permission,
    ToolCall,
    TurnEnd,
    UserMessage,
)
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """Return a conversation with an agent that supports only the draft."""
    conversation = Talk()
    refused = conversation.call("initialize", {"protocolVersion": 1})
    conversation.fail(refused, {"code": -32602, "message": "Unsupported protocol version: 1"})
    answer = {
        "protocolVersion": "0.1.0",
        "serverInfo": {"name": "old", "version": "0.9"},
        "capabilities": {"loadSession": True},
        "available_commands": [
            {"name": "go", "description": "Go", "input": {"unstructured": {"hint": "where"}}}
        ],
    }
    conversation.ask("initialize", {"protocolVersion": "0.1.0"}, answer)
    conversation.ask("session/new", {"cwd": "/w"}, {"sessionId": "s1"})
    return conversation


def send(talk: Talk, text: str = "hello") -> int:
    """Send a prompt in the form of the draft and return the id of the request."""
    return talk.call("session/prompt", {"sessionId": "s1", "prompt": text})


def test_the_initialize_response_of_the_draft_is_read(talk: Talk) -> None:
    agent = talk.session.agent
    assert agent is not None
    assert (talk.session.dialect, agent.name, agent.protocol_version) == ("0.1.0", "old", "0.1.0")
    assert agent.can("loadSession")
    (command,) = talk.session.commands
    assert (command.name, command.hint) == ("go", "where")
    assert (talk.only(Notice).level, talk.session.last_error) == ("info", None)


def test_a_turn_of_the_draft_ends_with_a_notification(talk: Talk) -> None:
    prompt = send(talk)
    assert talk.only(UserMessage).text == "hello"
    talk.answer(prompt, {"success": True})
    assert talk.session.phase == "prompting"
    talk.says("working")
    talk.update("end_turn")
    assert (talk.session.phase, talk.only(TurnEnd).stop_reason) == ("idle", "end_turn")
    assert not talk.only(AgentMessage).stray


END = {"sessionUpdate": "end_turn", "stopReason": "refusal"}


@pytest.mark.parametrize(
    "end",
    [
        {"method": "session/update", "params": {"sessionId": "s1", "update": END}},
        {"method": "session/update", "params": {"sessionId": "s1", **END}},
        {"method": "end_turn", "params": {"sessionId": "s1", "stopReason": "refusal"}},
    ],
)
def test_the_end_of_a_turn_is_read_in_three_forms(talk: Talk, end: dict[str, Any]) -> None:
    talk.answer(send(talk), {"success": True})
    talk.received(end)
    assert talk.only(TurnEnd).stop_reason == "refusal"
    assert talk.only(UserMessage).withdrawn


def test_a_turn_may_end_before_the_prompt_is_answered(talk: Talk) -> None:
    prompt = send(talk)
    talk.update("end_turn")
    talk.answer(prompt, {"success": True})
    assert (talk.session.phase, len(talk.all(TurnEnd))) == ("idle", 1)


def test_a_stop_reason_and_a_notification_end_the_turn_once(talk: Talk) -> None:
    talk.end(send(talk))
    talk.update("end_turn")
    assert len(talk.all(TurnEnd)) == 1


def test_a_rejected_prompt_ends_the_turn_with_its_error(talk: Talk) -> None:
    talk.answer(send(talk), {"success": False, "error": "busy"})
    error = talk.only(TurnEnd).error
    assert error is not None
    assert error.message == "busy"


def test_a_protocol_version_of_0_selects_the_draft() -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": "0.2.1"})
    assert talk.session.dialect == "0.1.0"


@pytest.mark.parametrize("version", [1, "1", "1.0"])
def test_any_form_of_protocol_version_1_selects_version_1(version: object) -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": version})
    assert talk.session.dialect == "v1"


def test_in_version_1_only_the_response_ends_a_turn() -> None:
    talk = Talk().opened()
    prompt = talk.prompt()
    talk.update("end_turn", stopReason="end_turn")
    assert talk.session.phase == "prompting"
    talk.end(prompt)
    assert talk.kinds() == ["UserMessage", "TurnEnd"]


# --------------------------------------------------------------------------- forms accepted in both versions

PATCH = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-old\x1b\n+new\n"


@pytest.mark.parametrize("dialect", ["v1", "0.1.0"])
def test_message_forms_of_the_draft_are_read_in_both_versions(dialect: str) -> None:
    talk = Talk()
    talk.ask("initialize", {}, {"protocolVersion": 1 if dialect == "v1" else "0.1.0"})
    talk.ask("session/new", {"cwd": "/w"}, {"sessionId": "s1"})
    talk.prompt()
    talk.tool("t", diff=PATCH, content=[{"type": "text", "text": "bare"}])
    talk.update("agent_message_chunk", content="plain text")
    talk.update("current_mode_update", modeId="code")
    talk.update("available_commands", available_commands=["stop"])
    talk.asks_permission(None, toolCall={"toolCallId": "t"})
    assert talk.only(ToolCall).content == [
        Content("text", text="bare"),
        Diff("src/x.py", None, None, PATCH.replace("\x1b", "␛")),
    ]
    assert talk.only(AgentMessage).text == "plain text"
    assert talk.session.mode == "code"
    assert [command.name for command in talk.session.commands] == ["stop"]
    assert not talk.only(Permission).answerable


def test_a_diff_in_the_content_may_be_a_patch() -> None:
    talk = Talk().opened()
    talk.tool(
        "t",
        content=[{"type": "diff", "path": "/w/x", "diff": PATCH}, {"type": "diff", "patch": "Index: y\n"}],
    )
    first, second = talk.only(ToolCall).content
    assert isinstance(first, Diff)
    assert isinstance(second, Diff)
    assert (first.path, second.path) == ("/w/x", "y")


@pytest.mark.parametrize(("header", "path"), [("--- a/x.sql\n+++ b/x.sql\n", "x.sql"), ("", "")])
def test_a_changed_comment_is_not_taken_for_the_path_of_a_patch(header: str, path: str) -> None:
    talk = Talk().opened()
    talk.tool("t", diff=f"{header}@@ -1 +1 @@\n--- old comment\n+++ counter\n")
    (diff,) = talk.only(ToolCall).content or []
    assert isinstance(diff, Diff)
    assert diff.path == path


# --------------------------------------------------------------------------- prompts


def test_prompt_blocks_become_one_string() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "look at"},
        {"type": "resource_link", "uri": "file:///w/x", "name": "x"},
        {"type": "resource", "resource": {"uri": "file:///w/y", "text": "the text"}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    assert prompt_text(blocks) == "look at\nfile:///w/x\nthe text"

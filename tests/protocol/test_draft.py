"""The 0.1.0 draft: another way to begin and end a turn, and other words for the same things."""

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
    """A session with an agent that speaks the draft only."""
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
    """A prompt as the draft wants it."""
    return talk.call("session/prompt", {"sessionId": "s1", "prompt": text})


def test_the_handshake_in_the_words_of_the_draft(talk: Talk) -> None:
    agent = talk.session.agent
    assert agent is not None
    assert (talk.session.dialect, agent.name, agent.protocol_version) == ("0.1.0", "old", "0.1.0")
    assert agent.can("loadSession")
    (command,) = talk.session.commands
    assert (command.name, command.hint) == ("go", "where")
    assert (talk.only(Notice).level, talk.session.last_error) == ("info", None)


def test_the_answer_opens_the_turn_and_a_notification_ends_it(talk: Talk) -> None:
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
def test_the_end_may_name_its_reason_and_stand_bare(talk: Talk, end: dict[str, Any]) -> None:
    talk.answer(send(talk), {"success": True})
    talk.received(end)
    assert talk.only(TurnEnd).stop_reason == "refusal"
    assert talk.only(UserMessage).withdrawn


def test_the_end_may_come_before_the_answer(talk: Talk) -> None:
    prompt = send(talk)
    talk.update("end_turn")
    talk.answer(prompt, {"success": True})
    assert (talk.session.phase, len(talk.all(TurnEnd))) == ("idle", 1)


def test_an_answer_with_a_stop_reason_ends_the_turn_once(talk: Talk) -> None:
    talk.end(send(talk))
    talk.update("end_turn")
    assert len(talk.all(TurnEnd)) == 1


def test_a_prompt_that_is_not_taken_fails(talk: Talk) -> None:
    talk.answer(send(talk), {"success": False, "error": "busy"})
    error = talk.only(TurnEnd).error
    assert error is not None
    assert error.message == "busy"


def test_an_answer_that_names_a_version_before_one_chooses_the_draft() -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": "0.2.1"})
    assert talk.session.dialect == "0.1.0"


@pytest.mark.parametrize("version", [1, "1", "1.0"])
def test_one_is_one(version: object) -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": version})
    assert talk.session.dialect == "v1"


def test_in_version_one_only_the_answer_ends_a_turn() -> None:
    talk = Talk().opened()
    prompt = talk.prompt()
    talk.update("end_turn", stopReason="end_turn")
    assert talk.session.phase == "prompting"
    talk.end(prompt)
    assert talk.kinds() == ["UserMessage", "TurnEnd"]


# --------------------------------------------------------------------------- forms for version 1, too

PATCH = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-old\x1b\n+new\n"


@pytest.mark.parametrize("dialect", ["v1", "0.1.0"])
def test_the_forms_of_the_draft(dialect: str) -> None:
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


def test_a_patch_may_stand_among_the_content() -> None:
    talk = Talk().opened()
    talk.tool(
        "t",
        content=[{"type": "diff", "path": "/w/x", "diff": PATCH}, {"type": "diff", "patch": "Index: y\n"}],
    )
    first, second = talk.only(ToolCall).content
    assert isinstance(first, Diff)
    assert isinstance(second, Diff)
    assert (first.path, second.path) == ("/w/x", "y")


# --------------------------------------------------------------------------- what is sent


def test_a_prompt_becomes_a_plain_string() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "look at"},
        {"type": "resource_link", "uri": "file:///w/x", "name": "x"},
        {"type": "resource", "resource": {"uri": "file:///w/y", "text": "the text"}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    assert prompt_text(blocks) == "look at\nfile:///w/x\nthe text"

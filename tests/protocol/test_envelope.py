"""JSON-RPC envelopes: pairing of requests and responses, and reports of invalid frames."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_tui.session.events import Decided
from acp_tui.session.state import AgentMessage, Notice, Permission, TurnEnd, Unrecognised
from tests.support.talk import Talk


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ([], "a JSON array"),
        (3, "not an object"),
        (None, "not an object"),
        ({}, "not a request, notification or response"),
        ({"method": 3, "id": 1}, "whose method is not a string"),
        ({"method": "fs/read_text_file", "id": [1], "params": {}}, "neither a string nor a number"),
        ({"method": "fs/read_text_file", "id": True, "params": {}}, "neither a string nor a number"),
        ({"method": "fs/read_text_file", "id": 1, "params": [1]}, "params are not an object"),
        ({"id": 99, "result": {}}, "was not sent"),
        ({"id": [1], "result": {}}, "was not sent"),
        ({"id": 1, "result": {}}, "answered request 1 more than once"),
        ({"id": "1", "result": {}}, "answered request 1 more than once"),
        (
            {"id": None, "error": {"code": -32700, "message": "Parse error"}},
            "The agent reported: Parse error",
        ),
        ({"id": None, "result": {}}, "was not sent"),
        ({"id": json.loads("[" * 500 + "]" * 500), "result": {}}, "was not sent"),
    ],
)
def test_an_invalid_envelope_is_reported(frame: Any, words: str) -> None:
    talk = Talk().opened()
    talk.record("received", frame)
    notice = talk.only(Notice)
    assert (notice.level, notice.source) == ("warning", "protocol")
    assert words in notice.text


def test_a_large_or_deep_frame_is_shortened_in_the_notice() -> None:
    talk = Talk()
    talk.record("received", ["\x1b" * 1_000_000])
    talk.record("received", json.loads("[" * 500 + "]" * 500))
    for notice in talk.all(Notice):
        assert notice.detail is not None
        assert len(notice.detail) < 30_000
        assert "\x1b" not in notice.detail


def test_repeated_faults_are_counted_in_one_notice_per_turn() -> None:
    talk = Talk().opened()
    for number in range(1000):
        talk.record("received", [number])
    notice = talk.only(Notice)
    assert (notice.text, notice.detail) == ("The agent sent a JSON array (1000 times)", "[0]")
    talk.prompt()
    talk.record("received", [])
    assert len(talk.all(Notice)) == 2


def test_updates_of_an_invalid_kind_are_unrecognised_entries() -> None:
    talk = Talk().opened()
    deep = json.loads("[" * 500 + "]" * 500)
    talk.received(
        {"method": "session/update", "params": {"sessionId": "s1", "update": {"sessionUpdate": deep}}}
    )
    talk.received({"method": "session/update", "params": [1]})
    talk.received({"method": "session/update", "params": {"sessionId": "s1", "update": 3}})
    assert len(talk.all(Unrecognised)) == 3


def test_a_response_may_have_its_id_as_a_string() -> None:
    talk = Talk().opened()
    talk.end(int(talk.prompt()))
    second = talk.prompt()
    talk.answer(str(second), {"stopReason": "end_turn"})
    assert len(talk.all(TurnEnd)) == 2


def test_an_error_may_be_a_string() -> None:
    talk = Talk().opened()
    talk.fail(talk.prompt(), "rate limit exceeded")
    error = talk.only(TurnEnd).error
    assert error is not None
    assert error.message == "rate limit exceeded"


def test_extension_notifications_add_no_entry() -> None:
    talk = Talk().opened()
    talk.received({"method": "_auth/status_update", "params": {}})
    assert talk.session.entries == []
    assert talk.session.heard == "the notification _auth/status_update"


def test_unknown_requests_and_notifications_are_unrecognised_entries() -> None:
    talk = Talk().opened()
    talk.received({"method": "weather/changed", "params": {"to": "rain"}})
    talk.received({"id": 1, "method": "_x/ask", "params": {"a": 1}})
    assert [(entry.what, entry.raw) for entry in talk.all(Unrecognised)] == [
        ('notification "weather/changed"', {"to": "rain"}),
        ('request "_x/ask"', {"a": 1}),
    ]


def test_messages_of_an_unknown_kind_in_a_row_share_an_entry() -> None:
    talk = Talk().opened()
    for number in range(3):
        talk.update("typo", part=number)
    talk.tool("t")
    talk.update("typo", part=3)
    first, second = talk.all(Unrecognised)
    assert (first.count, [raw["part"] for raw in (first.raw, *first.repeats)]) == (3, [0, 1, 2])
    assert (second.count, second.raw["part"]) == (1, 3)


def refuse(talk: Talk, request_id: str, code: int, message: str) -> None:
    """Answer a request of the agent with an error."""
    error = {"code": code, "message": message}
    talk.record("sent", {"jsonrpc": "2.0", "id": request_id, "error": error})


def test_refused_requests_are_counted_in_one_notice_per_turn() -> None:
    talk = Talk().opened()
    for number in range(3):
        talk.received({"id": f"r{number}", "method": "terminal/kill", "params": {"terminalId": "x"}})
        refuse(talk, f"r{number}", -32602, "terminal/kill: no such terminal")
    notice = talk.only(Notice)
    assert (notice.level, notice.source) == ("warning", "protocol")
    assert notice.text == "Refused terminal/kill: no such terminal (3 times)"


@pytest.mark.parametrize("params", [{"path": "/w/a"}, [1]])
def test_a_refused_request_that_was_reported_already_is_not_reported_again(params: Any) -> None:
    talk = Talk().opened()
    talk.received({"id": "r", "method": "terminal/create", "params": params})
    talk.client(Decided("r", allowed=False, by="policy", why="rejected", subject="run `make`"))
    refuse(talk, "r", -32003 if isinstance(params, dict) else -32602, "not allowed")
    assert not [notice for notice in talk.all(Notice) if notice.text.startswith("Refused")]


def test_an_update_sent_as_a_request_is_applied_and_reported() -> None:
    talk = Talk().opened()
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
    talk.received({"id": 1, "method": "session/update", "params": {"sessionId": "s1", "update": update}})
    assert talk.only(AgentMessage).text == "hi"
    assert "notification" in talk.only(Notice).text


def test_a_second_permission_request_with_a_pending_id_is_rejected() -> None:
    talk = Talk().opened()
    for call in ("first", "second"):
        talk.asks_permission("same", toolCall={"toolCallId": call, "title": call})
    [fault] = talk.all(Notice)
    assert "pending request" in fault.text
    assert '"second"' in (fault.detail or "")
    talk.reply("same", {"outcome": {"outcome": "selected", "optionId": "yes"}})
    permission = talk.only(Permission)
    assert (permission.call_id, permission.outcome) == ("first", "selected")
    talk.asks_permission("same", toolCall={"toolCallId": "third"})
    assert list(talk.session.permissions) == ["same"]


def test_an_update_with_a_pending_id_is_applied() -> None:
    talk = Talk().opened()
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
    for _ in range(2):
        talk.received({"id": 1, "method": "session/update", "params": {"sessionId": "s1", "update": update}})
    assert talk.only(AgentMessage).text == "hihi"


def test_an_error_response_is_shown_as_a_notice() -> None:
    talk = Talk().opened()
    talk.fail(talk.call("session/set_mode", {"modeId": "x"}), {"code": -32602, "message": "No such mode"})
    assert talk.only(Notice).text == "session/set_mode failed: No such mode"
    assert talk.session.last_error is not None


def cancel_request(talk: Talk, call_id: int) -> None:
    """Send the cancellation of a request."""
    talk.record("sent", {"method": "$/cancel_request", "params": {"requestId": call_id}})


@pytest.mark.parametrize("id_type", [int, str])
def test_a_cancelled_request_is_not_an_error(id_type: type) -> None:
    talk = Talk().opened()
    call = talk.call("authenticate", {"methodId": "x"})
    cancel_request(talk, call)
    talk.fail(id_type(call), {"code": -32800, "message": "Request cancelled"})
    assert (talk.only(Notice).level, talk.only(Notice).text) == ("info", "authenticate was cancelled")


def test_a_cancelled_load_still_completes_if_the_response_arrives() -> None:
    talk = Talk()
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    phases = [talk.session.phase]
    cancel_request(talk, call)
    phases.append(talk.session.phase)
    talk.answer(call, {})
    phases.append(talk.session.phase)
    assert phases == ["loading", "connecting", "idle"]


def test_a_cancelled_prompt_lasts_until_its_response() -> None:
    talk = Talk().opened()
    prompt = talk.prompt()
    cancel_request(talk, prompt)
    cancel_request(talk, 99)
    assert (talk.session.phase, talk.all(Notice)) == ("prompting", [])

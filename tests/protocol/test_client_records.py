"""Client events as records of the log, and back."""

from __future__ import annotations

import json

import pytest

from acp_tui.protocol.client_records import from_record, to_record
from acp_tui.session import events as ev
from acp_tui.session.state import Content


@pytest.mark.parametrize(
    "event",
    [
        ev.AgentStarted(["agent", "--acp"], "/w", 7),
        ev.AgentExited(3, None, ["line"], expected=True, reason="why"),
        ev.Decided("p", "rule", "rule 3", allowed=False, subject="run ls"),
        ev.Decided(None, "you", "", allowed=None, waited=1.25),
        ev.McpCalled("files", "read", {"path": "a\x1b"}, {"content": [{"type": "text"}]}, seconds=0.5),
        ev.McpCalled("files", "read", [], error="It was refused.", by="you"),
        ev.Noticed("error", "text", "detail", "store"),
        ev.Queued("q", "raw \x1b text", [{"type": "text", "text": "x"}], first=True),
        ev.Unqueued("q"),
        ev.QueuePaused(paused=True),
        ev.TerminalCreated("t", "user", "ls | wc", "/w"),
        ev.TerminalOutput("t", "\x1b[31mraw\ud800", skipped=5),
        ev.TerminalExited("t", 0, None),
    ],
)
def test_a_client_event_is_read_back_from_its_record(event: ev.Event) -> None:
    record = json.loads(json.dumps(to_record(event)))
    assert from_record(record) == event


def test_records_have_snake_case_names_and_omit_defaults() -> None:
    assert to_record(ev.QueuePaused(paused=False)) == {"event": "queue_paused", "paused": False}
    assert to_record(ev.TerminalExited("t")) == {"event": "terminal_exited", "terminal_id": "t"}


@pytest.mark.parametrize(
    "record",
    [
        None,
        "x",
        {},
        {"event": 3},
        {"event": "from_the_future", "x": 1},
        {"event": "noticed", "level": "info"},
        {"event": "noticed", "level": "loud", "text": "x"},
        {"event": "agent_started", "command": "no list", "cwd": "/"},
        {"event": "agent_exited", "exit_code": True},
        {"event": "queued", "id": "a", "text": "b", "blocks": [1]},
    ],
)
def test_an_invalid_record_becomes_an_unknown_event(record: object) -> None:
    event = from_record(record)
    assert isinstance(event, ev.Unknown)
    assert event.raw == record


def test_fields_of_a_newer_version_are_ignored() -> None:
    assert from_record({"event": "unqueued", "id": "a", "new": 1}) == ev.Unqueued("a")


def test_control_characters_are_replaced_in_notices_but_not_in_queued_prompts() -> None:
    assert from_record(to_record(ev.Noticed("info", "a\x1bb"))) == ev.Noticed("info", "a␛b")
    assert from_record(to_record(ev.Queued("q", "a\x1bb"))) == ev.Queued("q", "a\x1bb")


@pytest.mark.parametrize(
    ("event", "safe"),
    [
        (ev.AgentStarted(["a\x1b"], "/w\x1b", 7), ev.AgentStarted(["a␛"], "/w␛", 7)),
        (ev.OwnToolEnded("c\x1b", "done\x1b", "x"), ev.OwnToolEnded("c\x1b", "done␛", "x")),
        (ev.Decided("p\x1b", "rule", "w\x1b", allowed=True), ev.Decided("p\x1b", "rule", "w␛", allowed=True)),
    ],
)
def test_control_characters_are_replaced_in_all_fields_but_ids_and_raw_values(
    event: ev.Event, safe: ev.Event
) -> None:
    assert from_record(to_record(event)) == safe


def test_any_event_can_be_converted_to_a_record() -> None:
    event = ev.OtherSessionUpdate("s2", ev.ContentChunk("agent", Content("image", data="AA")))
    assert to_record(event) == {
        "event": "other_session_update",
        "session_id": "s2",
        "inner": {"event": "content_chunk", "speaker": "agent", "content": {"kind": "image", "data": "AA"}},
    }

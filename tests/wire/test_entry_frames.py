"""Which frames made which entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.session.record import Record
from acp_tui.session.state import AgentMessage, Permission, ToolCall, UserMessage
from acp_tui.wire.entry_frames import EntryFrames, EntryPlace
from tests.support.recordings import WIRELOGS, records

if TYPE_CHECKING:
    from pathlib import Path


def mapped(log: list[Record]) -> EntryFrames:
    frames = EntryFrames()
    for number, record in enumerate(log):
        frames.add(number, record)
    return frames


def log_of(name: str) -> list[Record]:
    return list(records(next(path for path in WIRELOGS if path.stem == name)))


def update(**fields: object) -> Record:
    return Record(
        2.0, "received", {"method": "session/update", "params": {"sessionId": "s", "update": fields}}
    )


def opened(method: str = "session/new", number: int = 0) -> list[Record]:
    params = {"sessionId": "s"} if method == "session/load" else {}
    return [
        Record(1.0, "sent", {"id": number, "method": method, "params": params}),
        Record(1.0, "received", {"id": number, "result": {"sessionId": "s"}}),
    ]


def prompt(text: str, number: int) -> list[Record]:
    content = [{"type": "text", "text": text}]
    params = {"sessionId": "s", "prompt": content}
    return [
        Record(2.0, "sent", {"id": number, "method": "session/prompt", "params": params}),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": f"to {text}"}),
        Record(3.0, "received", {"id": number, "result": {"stopReason": "end_turn"}}),
    ]


def test_an_entry_has_exactly_the_frames_that_made_it() -> None:
    log = log_of("claude-code-edit")
    frames, session = mapped(log), fold(log)
    permission = next(entry for entry in session.entries if isinstance(entry, Permission))
    numbers = frames.frames_of(EntryPlace("", permission.id))
    asked, answered = (log[number].frame for number in numbers)
    assert asked["method"] == "session/request_permission"
    assert answered["id"] == asked["id"]
    call = next(entry for entry in session.entries if isinstance(entry, ToolCall))
    made = [log[number].frame for number in frames.frames_of(EntryPlace("", call.id))]
    assert {frame["params"]["update"]["toolCallId"] for frame in made} == {call.call_id}


def test_a_frame_leads_to_the_entry_that_it_added() -> None:
    log = log_of("claude-code-edit")
    frames, session = mapped(log), fold(log)
    for entry in session.entries:
        first = frames.frames_of(EntryPlace("", entry.id))[0]
        place = frames.entry_of(first)
        assert place is not None
        added = session.entries[place.entry]
        assert first in frames.frames_of(place)
        assert isinstance(added, (type(entry), ToolCall, Permission))
    assert frames.entry_of(0) is None


@pytest.mark.parametrize("path", WIRELOGS, ids=lambda path: path.stem)
def test_every_entry_of_a_recording_has_frames(path: Path) -> None:
    log = list(records(path))
    frames, session = mapped(log), fold(log)
    assert [entry.id for entry in session.entries if not frames.frames_of(EntryPlace("", entry.id))] == []
    for key, subagent in session.subagents.items():
        of_subagent = set(frames.frames_of_subagent(key))
        for entry in subagent.session.entries:
            made = frames.frames_of(EntryPlace(key, entry.id))
            assert made
            assert set(made) <= of_subagent
            place = frames.entry_of(made[0])
            assert place is not None
            assert place.subagent == key


def test_entries_of_the_client_come_from_its_own_records() -> None:
    log = [*opened(), Record(2.0, "client", {"event": "noticed", "level": "info", "text": "Look."})]
    frames = mapped(log)
    assert frames.frames_of(EntryPlace("", 0)) == [2]
    assert frames.entry_of(2) == EntryPlace("", 0)


def test_replayed_prompts_of_a_resumed_session_come_from_the_replay() -> None:
    """What the session contains already is kept; the replay adds what was said elsewhere."""
    text = {"type": "text", "text": "elsewhere"}
    first = {"type": "text", "text": "one"}
    load = opened("session/load", 5)
    replay = [
        update(sessionUpdate="user_message_chunk", content=first),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "to one"}),
        update(sessionUpdate="user_message_chunk", content=text),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "an answer"}),
    ]
    log = [*opened(), *prompt("one", 1), load[0], *replay, load[1]]
    frames, session = mapped(log), fold(log)
    added = next(one for one in session.entries if isinstance(one, UserMessage) and one.text == "elsewhere")
    answer = next(one for one in session.entries if isinstance(one, AgentMessage) and one.text == "an answer")
    assert [log[number] for number in frames.frames_of(EntryPlace("", added.id))] == [replay[2]]
    assert [log[number] for number in frames.frames_of(EntryPlace("", answer.id))] == [replay[3]]
    known = next(one for one in session.entries if isinstance(one, UserMessage))
    assert [log[number].direction for number in frames.frames_of(EntryPlace("", known.id))] == ["sent"]

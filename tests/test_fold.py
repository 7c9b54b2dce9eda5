"""The session is a fold over its log: recorded traffic and generated frames fold to the same state twice."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.protocol.translator import Fold, fold
from acp_tui.session.record import Record
from acp_tui.session.state import (
    Compaction,
    Elicitation,
    Permission,
    Plan,
    Terminal,
    Thought,
    ToolCall,
    TurnEnd,
    Unrecognised,
)
from tests.support.frames import anything, junk
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk, properties

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.session.state import Entry, Session


def by_name(part: str) -> Path:
    """Return the recording with this name."""
    return next(path for path in WIRELOGS if path.stem == part)


# --------------------------------------------------------------------------- real agents


@pytest.mark.parametrize("path", WIRELOGS, ids=lambda path: path.stem)
def test_a_recording_folds_without_anything_unrecognised(path: Path) -> None:
    """Covers every update, request and notification of the recorded agents.

    Their one extension, the notification `_auth/status_update`, is ignored, as the protocol allows.
    """
    session = fold(records(path))
    assert [entry for entry in session.entries if isinstance(entry, Unrecognised)] == []
    assert not any("\x1b" in text for text in displayed(session))
    assert session.phase != "prompting"
    assert session.reducer_state.open_calls == {}
    assert [entry.id for entry in session.entries] == list(range(len(session.entries)))


def displayed(session: Session) -> list[str]:
    """Return all texts of the state that may be displayed; raw values are left out."""
    raw = {
        "raw",
        "raw_input",
        "raw_output",
        "repeats",
        "meta",
        "schema",
        "url",
        "coloured",
        "output",
        "capabilities",
        "reducer_state",
    }
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            for name, inner in value.items():
                if name not in raw:
                    walk(inner)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                walk(inner)
        elif value is not None and not isinstance(value, (int, float)):
            found.append(str(value))

    for entry in session.entries:
        walk(asdict(entry))
    return found


def kinds(path: Path) -> set[type[Entry]]:
    """Return the kinds of entries in a recording."""
    return {type(entry) for entry in fold(records(path)).entries}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-code-edit", {ToolCall, Permission, TurnEnd}),
        ("claude-code-ask", {Elicitation}),
        ("claude-code-sonnet-todo", {Plan}),
        ("claude-code-zedmeta", {Terminal}),
        ("claude-code-thinking", {Thought}),
        ("kimi-code-shell", {Terminal, Permission}),
        ("kimi-code-ask", {Elicitation}),
        ("opencode-edit", {ToolCall, Permission}),
        ("ts-example-plain", {ToolCall, Permission}),
    ],
)
def test_recordings_contain_the_expected_kinds_of_entries(name: str, expected: set[type[Entry]]) -> None:
    assert expected <= kinds(by_name(name))


def test_a_shell_command_with_output_in_meta() -> None:
    session = fold(records(by_name("claude-code-zedmeta")))
    (terminal,) = session.terminals.values()
    assert (terminal.output.head, terminal.exit_code, terminal.owner) == ("one\ntwo", 0, "agent")


def test_a_permission_keeps_the_streamed_arguments_of_its_call() -> None:
    """One agent replaces the streamed JSON with a sentence when it asks; the user must see both."""
    state = Fold()
    for record in records(by_name("kimi-code-zedmeta")):
        state.apply(record)
        if state.session.permissions:
            break
    (permission,) = state.session.permissions.values()
    texts = [getattr(item, "text", "") for item in state.session.tool_calls[permission.call_id].content]
    assert texts[0] == "Requesting approval to Running: echo one; sleep 1; echo two"
    assert json.loads(texts[1]) == {"command": "echo one; sleep 1; echo two"}


@pytest.mark.parametrize(("name", "summary"), [("claude-code-compact", "Done."), ("codex-compact", "")])
def test_a_compaction_is_one_entry_with_its_summary(name: str, summary: str) -> None:
    """Claude Code reports the end twice, the second time without the summary; Codex sends no summary."""
    session = fold(records(by_name(name)))
    (compaction,) = [entry for entry in session.entries if isinstance(entry, Compaction)]
    assert (compaction.status, compaction.text[-5:]) == ("completed", summary)


def test_a_loaded_session_ends_with_the_live_turn() -> None:
    session = fold(records(by_name("kimi-code-sessions-load")))
    assert session.turn == 4
    assert session.phase == "idle"
    assert sum(isinstance(entry, TurnEnd) for entry in session.entries) == 1


@pytest.mark.parametrize("name", ["claude-code-modes", "kimi-code-modes"])
def test_every_requested_mode_is_set_after_its_answer(name: str) -> None:
    wanted = None
    state = Fold()
    for record in records(by_name(name)):
        state.apply(record)
        if record.direction == "sent" and record.frame.get("method") == "session/set_mode":
            wanted = record.frame["params"]["modeId"]
        if record.direction == "received" and "result" in record.frame and wanted:
            assert state.session.mode == wanted
            wanted = None


@pytest.mark.parametrize("path", WIRELOGS[::7], ids=lambda path: path.stem)
def test_folding_a_log_twice_gives_the_same_state(path: Path) -> None:
    lived = records(path)
    again = [Record(**json.loads(json.dumps(asdict(record)))) for record in lived]
    assert fold(again) == fold(lived)


# --------------------------------------------------------------------------- generated frames


@settings(
    properties, max_examples=250, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(anything)
def test_any_records_fold_to_the_same_state_twice(happened: list[Record]) -> None:
    lived = fold(happened)
    again = fold(Record(**json.loads(json.dumps(asdict(record)))) for record in happened)
    assert again == lived
    assert [entry.id for entry in lived.entries] == list(range(len(lived.entries)))
    assert not any("\x1b" in text for text in displayed(lived))


@settings(properties, max_examples=120)
@given(st.data())
def test_a_conversation_with_broken_frames_folds(data: st.DataObject) -> None:
    happened = records(data.draw(st.sampled_from(WIRELOGS)))[:60]
    for _ in range(data.draw(st.integers(1, 6))):
        record = happened[data.draw(st.integers(0, len(happened) - 1))]
        record.frame = _broken(data, record.frame)
    fold(happened)


def _broken(data: st.DataObject, value: Any) -> Any:
    """Return the value with a part of it replaced, removed or duplicated."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        name = data.draw(st.sampled_from(sorted(value)))
        if not data.draw(st.integers(0, 5)):
            return {key: inner for key, inner in value.items() if key != name}
        return {**value, name: _broken(data, value[name])}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], _broken(data, value[index]), *value[index:]]
    return data.draw(junk)


# --------------------------------------------------------------------------- cost


def test_the_cost_of_a_chunk_does_not_depend_on_the_length_of_the_conversation() -> None:
    """Counts instead of measuring time: a chunk changes one entry, and appending copies no text."""
    talk = Talk().opened()
    for _ in range(300):
        prompt = talk.prompt()
        talk.tool("t", status="completed")
        talk.end(prompt)
    talk.prompt()
    for _ in range(500):
        talk.says("piece ")
        assert len(talk.changes) == 1
    (message,) = (entry for entry in talk.session.entries if type(entry).__name__ == "AgentMessage")
    assert message.version == 499

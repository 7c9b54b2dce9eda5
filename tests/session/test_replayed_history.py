"""Histories that agents replay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.session.events import AgentExited, AgentStarted, HistoryCompleted
from acp_tui.session.reduce.history import REPLAYED_NOTHING
from acp_tui.session.state import AgentMessage, Notice, ToolCall, UserMessage
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk

if TYPE_CHECKING:
    from acp_tui.session.record import Record
    from acp_tui.session.state import Entry

PROMPTS = ["mock:plain", "mock:read /ws/project/README.md", "mock:think"]
OURS = "our answer"
MISSING = "The agent's history is missing"


def recorded(name: str) -> list[Record]:
    """Read a recording in which an agent reopens a session, replays it, and answers another prompt."""
    (path,) = [path for path in WIRELOGS if path.stem == name]
    return records(path)


def opens(record: Record) -> bool:
    return record.direction == "sent" and record.frame.get("method") in ("session/load", "session/resume")


def held(prompts: list[str], session_id: str = "s1") -> Talk:
    """Return a conversation whose agent was just restarted."""
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w", pid=7))
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    talk.ask("session/new", {"cwd": "/w"}, {"sessionId": session_id})
    for prompt in prompts:
        blocks = [{"type": "text", "text": prompt}]
        call = talk.call("session/prompt", {"sessionId": session_id, "prompt": blocks})
        talk.says(OURS, session_id=session_id)
        talk.end(call)
    talk.client(AgentExited(expected=True))
    talk.client(AgentStarted(["agent"], "/w", pid=7))
    return talk


def played(talk: Talk, recording: list[Record]) -> Talk:
    for record in recording:
        talk.record(record.direction, record.frame)
    return talk


def conversation(talk: Talk) -> list[str]:
    messages = [entry for entry in talk.session.entries if isinstance(entry, (UserMessage, AgentMessage))]
    return [message.text for message in messages]


def conversation_after(talk: Talk, entry: Entry) -> list[str]:
    entries = talk.session.entries[entry.id + 1 :]
    return [entry.text for entry in entries if isinstance(entry, (UserMessage, AgentMessage))]


@pytest.mark.parametrize(
    ("name", "prompts"),
    [
        ("gemini-sessions-load", PROMPTS),
        ("fast-agent-sessions-resume", [*PROMPTS, "mock:plain"]),
        ("claude-code-sessions-load", ["mock:plain", *PROMPTS[1:]]),
        ("kimi-code-sessions-load", PROMPTS),
        ("opencode-sessions-load", PROMPTS),
    ],
)
def test_replays_of_real_agents_are_not_shown_twice(name: str, prompts: list[str]) -> None:
    recording = recorded(name)
    (opening,) = [record for record in recording if opens(record)][:1]
    session_id = opening.frame["params"]["sessionId"]
    talk = played(held(prompts, session_id), recording)
    assert conversation(talk)[: 2 * len(prompts)] == [text for prompt in prompts for text in (prompt, OURS)]
    assert conversation(talk)[2 * len(prompts)] == "mock:plain"
    assert len(conversation(talk)) == 2 * len(prompts) + 2


@pytest.mark.parametrize("name", ["gemini-sessions-load", "fast-agent-sessions-resume"])
def test_an_unknown_history_is_shown(name: str) -> None:
    talk = played(Talk(), recorded(name))
    assert [text for text in conversation(talk) if text.startswith("mock:")][:3] == PROMPTS
    assert not any(entry.stray for entry in talk.session.entries)
    assert {call.status for call in talk.all(ToolCall)} <= {"completed"}
    assert talk.session.replayed == talk.session.turn - 1


def late(talk: Talk, *texts: str) -> None:
    """Replay prompts with answers after the opening request was answered."""
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.answer(call, {})
    for text in texts:
        talk.echoes(text)
        talk.says(f"answer to {text}")


def test_prompts_that_only_the_agent_knows_are_appended() -> None:
    talk = held(["one"])
    late(talk, "one", "two", "three")
    assert conversation(talk) == ["one", OURS, "two", "answer to two", "three", "answer to three"]
    assert talk.session.turn == 3
    assert [entry.id for entry in talk.session.entries] == list(range(len(talk.session.entries)))
    (notice,) = [entry for entry in talk.session.entries if "elsewhere" in str(getattr(entry, "text", ""))]
    assert conversation_after(talk, notice)[0] == "two"


def test_a_longer_replay_without_the_last_known_prompt_replaces_the_entries() -> None:
    talk = held(["one"])
    late(talk, "uno", "two")
    assert conversation(talk) == ["uno", "answer to uno", "two", "answer to two"]
    assert talk.session.turn == 2


@pytest.mark.parametrize(
    ("replayed", "warning"),
    [
        (["one", "two", "three"], None),
        (["one", "changed", "changed too"], None),  # some agents change the text of prompts
        (["three"], None),  # or compact the beginning
        (["one", "two"], f"{MISSING} the last prompt from this transcript"),
        (["one"], f"{MISSING} the last 2 prompts from this transcript"),
        (["other"], f"{MISSING} all prompts from this transcript"),
        ([], REPLAYED_NOTHING),
    ],
)
def test_a_load_that_lacks_prompts_is_reported(replayed: list[str], warning: str | None) -> None:
    talk = held(["one", "two", "three"])
    late(talk, *replayed)
    talk.client(HistoryCompleted())
    warnings = [notice.text for notice in talk.all(Notice) if notice.level == "warning"]
    assert warnings == ([warning] if warning else [])
    assert conversation(talk) == ["one", OURS, "two", OURS, "three", OURS]
    assert bool(talk.session.forgotten) is (replayed == [])


def test_a_replay_that_never_has_prompts_is_no_reason_to_warn() -> None:
    talk = held(["one", "two"])
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.says("System Prompt: You are an agent.")
    talk.answer(call, {})
    talk.client(HistoryCompleted())
    assert [notice.text for notice in talk.all(Notice) if notice.level == "warning"] == []


def test_prompts_with_the_same_text_are_counted_separately() -> None:
    talk = held(["go on", "go on"])
    late(talk, "go on")
    talk.client(HistoryCompleted())
    warnings = [notice.text for notice in talk.all(Notice) if notice.level == "warning"]
    assert warnings == [f"{MISSING} the last prompt from this transcript"]


def test_known_tool_calls_keep_their_details_when_newer_prompts_are_appended() -> None:
    talk = held(["one"])
    talk.ask("session/load", {"sessionId": "s1", "cwd": "/w"}, {})
    call = talk.prompt("two")
    talk.tool("c1", title="Ours", status="completed")
    talk.end(call)
    opening = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.answer(opening, {})
    talk.echoes("two")
    talk.tool("c1", title="Replayed", status="pending")
    talk.echoes("three")
    talk.tool("c2", title="New", status="pending")
    talk.prompt("four")
    assert [call.title for call in talk.all(ToolCall)] == ["Ours", "New"]
    assert list(talk.session.tool_calls.values()) == talk.all(ToolCall)
    assert {call.status for call in talk.all(ToolCall)} == {"completed", "unfinished"}


def test_prompts_whose_turn_was_interrupted_need_not_be_replayed() -> None:
    talk = held(["one"])
    talk.client(AgentExited(exit_code=1))
    talk.ask("session/load", {"sessionId": "s1", "cwd": "/w"}, {})
    talk.prompt("two")
    talk.client(AgentExited(exit_code=1))
    late(talk, "one")
    talk.client(HistoryCompleted())
    assert [notice.text for notice in talk.all(Notice) if notice.level == "warning"] == []


def test_a_prompt_that_is_cut_by_the_answer_to_the_load_is_recognised() -> None:
    talk = held(["one two"])
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.echoes("one ")
    talk.answer(call, {})
    talk.echoes("two")
    talk.says("answer")
    talk.client(HistoryCompleted())
    assert conversation(talk) == ["one two", OURS]
    assert [notice for notice in talk.all(Notice) if notice.level == "warning"] == []


@pytest.mark.parametrize("is_late", [False, True])
def test_a_replay_of_5000_updates_is_not_shown_twice(is_late: bool) -> None:
    prompts = [f"prompt {number}" for number in range(2500)]
    talk = held(prompts)
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    if is_late:
        talk.answer(call, {})
    for prompt in prompts:
        talk.echoes(prompt)
        talk.says("answer")
    if not is_late:
        talk.answer(call, {})
    talk.client(HistoryCompleted())
    assert conversation(talk) == [text for prompt in prompts for text in (prompt, OURS)]
    assert len(talk.all(Notice)) == 1  # that the agent was restarted


def test_extra_user_messages_in_a_replay_are_ignored() -> None:
    talk = held(["one", "two"])
    late(talk, "an attached file", "one", "two")
    assert conversation(talk) == ["one", OURS, "two", OURS]


def test_unprompted_messages_after_a_resume_are_shown() -> None:
    talk = held(["one"])
    talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w"}, {})
    talk.says("Welcome back")
    assert conversation(talk) == ["one", OURS, "Welcome back"]


def test_messages_long_after_the_replay_are_shown() -> None:
    talk = held(["one"])
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.echoes("one")
    talk.says("answer to one")
    talk.answer(call, {})
    for _ in range(3):  # each record is a second later
        talk.update("usage_update", used=1, size=2)
    talk.says("The tests have finished")
    assert conversation(talk)[-1] == "The tests have finished"


def test_notes_of_gemini_to_its_model_are_not_shown_as_user_messages() -> None:
    talk = Talk().opened()
    talk.echoes("<session_context>\nToday is Friday.\n</session_context>")
    talk.echoes("[Function Response: read_file]")
    assert talk.session.entries == []


def test_a_load_that_replayed_the_last_prompt_is_complete() -> None:
    def complete(*prompts: str) -> bool:
        talk = held(["one", "two"])
        call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
        for prompt in prompts:
            talk.echoes(prompt)
            talk.says("answer")
        talk.answer(call, json.loads("null"))
        done: Any = talk.session.history_complete
        return bool(done)

    assert [complete("one", "two"), complete("one"), complete()] == [True, False, False]


def test_replayed_prompts_that_got_no_answer_are_entries_of_their_own() -> None:
    """Kimi Code sends no message ids, and notes to its model besides."""
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w", pid=7))
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    for text in ("first", "<system-reminder>\nToday is Monday.", "second", "third"):
        talk.echoes(text)
    talk.says("answer")
    talk.answer(call, {})
    assert conversation(talk) == ["first", "second", "third", "answer"]
    assert [entry.turn for entry in talk.all(UserMessage)] == [1, 2, 3]

"""Subagents: their sessions are folded into the entries that stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.session.events import AgentExited
from acp_tui.session.reduce import subagents
from acp_tui.session.state import (
    AgentMessage,
    Elicitation,
    Notice,
    Permission,
    SessionMessage,
    Subagent,
    ToolCall,
    TurnEnd,
    UserMessage,
)
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk

if TYPE_CHECKING:
    from acp_tui.session.state import Session


def announced(talk: Talk, child: str = "c1", *, session_id: str = "s1", **update: Any) -> None:
    talk.update("subagent_update", session_id=session_id, **{"sessionId": child, "title": child, **update})


def talk_with(**update: Any) -> Talk:
    """Return a turn in which the subagent c1 was announced."""
    talk = Talk().opened()
    talk.prompt()
    talk.update("subagent_update", **{"sessionId": "c1", "title": "Look around", **update})
    return talk


def kinds(session: Session) -> list[str]:
    return [type(entry).__name__ for entry in session.entries]


def recorded(name: str) -> Session:
    return fold(records(next(path for path in WIRELOGS if path.stem == name)))


# --------------------------------------------------------------------------- recordings


def test_a_recorded_subagent_of_claude_code() -> None:
    session = recorded("claude-code-subagents")
    assert kinds(session) == [
        *("UserMessage", "Subagent", "SessionMessage", "SessionMessage"),
        *("AgentMessage", "AgentMessage", "TurnEnd"),
    ]
    (entry,) = session.subagents.values()
    assert (entry.title, entry.description) == ("run the mock step", "general-purpose")
    assert (entry.state, entry.stop_reason, entry.can_cancel) == ("idle", "end_turn", True)
    assert (entry.message_count, entry.call_count) == (2, 0)
    task, answer, _ = entry.session.entries
    assert isinstance(task, SessionMessage)
    assert (task.text, task.received, task.peer) == ("mock:plain", True, "")
    assert isinstance(answer, AgentMessage)
    assert answer.text.startswith("Here is a **short** answer")
    launch = session.entries[2]
    assert isinstance(launch, SessionMessage)
    assert (launch.peer, launch.peer_id, launch.received) == ("run the mock step", entry.key, False)


@pytest.mark.parametrize("agent", ["claude-code", "kimi-code", "opencode"])
def test_without_the_capability_subagents_are_tool_calls(agent: str) -> None:
    session = recorded(f"{agent}-sub")
    assert session.subagents == {}
    (call,) = session.tool_calls.values()
    assert (call.status, "run the mock step" in call.title) == ("completed", True)


# --------------------------------------------------------------------------- state and entries


def test_what_a_subagent_does_is_in_its_own_transcript() -> None:
    talk = talk_with(state={"state": "running"})
    talk.tool("t1", session_id="c1", status="in_progress", kind="read")
    talk.says("Found it.", session_id="c1")
    talk.says("Waiting.")
    entry = talk.only(Subagent)
    assert talk.kinds() == ["UserMessage", "Subagent", "AgentMessage"]
    assert kinds(entry.session) == ["ToolCall", "AgentMessage"]
    assert (entry.is_running, entry.call_count, entry.message_count) == (True, 1, 1)
    assert talk.session.tool_calls == {}


def test_changes_of_a_subagent_name_its_session() -> None:
    talk = talk_with()
    talk.says("Hello", session_id="c1")
    entry = talk.only(Subagent)
    inner, own = talk.changes
    assert (inner.kind, inner.entry, inner.session) == ("subagent", None, entry.session)
    assert inner.inner is not None
    assert (inner.inner.kind, inner.inner.entry) == ("added", entry.session.entries[0])
    assert (own.kind, own.entry) == ("updated", entry)


@pytest.mark.parametrize("rides", [True, False], ids=["in subagent_update", "as state_update"])
def test_a_subagent_becomes_idle_and_works_again(rides: bool) -> None:
    talk = talk_with(state={"state": "running"})
    entry = talk.only(Subagent)

    def becomes(**state: Any) -> None:
        if rides:
            talk.update("subagent_update", sessionId="c1", state=state)
        else:
            talk.update("state_update", session_id="c1", **state)

    becomes(state="requires_action")
    assert entry.is_asking
    becomes(state="idle", stopReason="end_turn")
    assert (entry.is_running, entry.stop_reason, entry.session.phase) == (False, "end_turn", "idle")
    assert entry.ended_at == talk.now
    becomes(state="running")
    assert (entry.is_running, entry.session.phase) == (True, "prompting")
    becomes(state="idle", stopReason="error", error={"code": 1, "message": "out of fuel"})
    assert (entry.stop_reason, entry.error) == ("error", "out of fuel")
    assert kinds(entry.session) == ["TurnEnd", "TurnEnd"]
    becomes(state="unknown")
    assert (entry.state, entry.is_running) == ("unknown", False)


def test_null_clears_and_an_omitted_field_stays() -> None:
    talk = talk_with(description="explorer", capabilities={"cancel": {}}, cwd="/w/sub")
    entry = talk.only(Subagent)
    announced(talk, title="Look again")
    assert (entry.title, entry.description, entry.can_cancel) == ("Look again", "explorer", True)
    assert entry.session.cwd == "/w/sub"
    announced(talk, title=None, description=None, capabilities=None)
    assert (entry.name, entry.can_cancel) == ("Subagent", False)


def test_a_subagent_outlives_the_turn() -> None:
    talk = talk_with(state={"state": "running"})
    talk.end(3)
    talk.says("Still here", session_id="c1")
    entry = talk.only(Subagent)
    assert (entry.is_running, entry.session.entries[0].stray) == (True, False)
    assert talk.session.phase == "idle"
    talk.client(AgentExited(exit_code=0))
    assert (entry.state, entry.is_running, entry.session.phase) == ("ended", False, "idle")


def test_updates_that_come_before_the_announcement_are_shown() -> None:
    talk = Talk().opened()
    talk.prompt()
    talk.says("Early", session_id="c1")
    assert "for another session, c1" in talk.only(Notice).text
    announced(talk)
    assert [type(change.entry).__name__ for change in talk.changes] == ["Subagent", "Notice", "Subagent"]
    talk.says(" bird", session_id="c1")
    (message,) = talk.only(Subagent).session.entries
    assert isinstance(message, AgentMessage)
    assert message.text == "Early bird"
    assert talk.only(Notice).text == "A subagent sent updates before it was announced"
    assert talk.only(Subagent).message_count == 1


def test_a_subagent_starts_another_one() -> None:
    talk = talk_with()
    announced(talk, "c2", session_id="c1")
    talk.says("Deep down", session_id="c2")
    outer = talk.only(Subagent)
    (inner,) = outer.session.entries
    assert isinstance(inner, Subagent)
    assert (inner.parent, kinds(inner.session)) == ("c1", ["AgentMessage"])
    assert [change.session and change.session.session_id for change in talk.changes] == ["c2", "c1", None]


def test_messages_between_agents_are_in_both_transcripts_and_may_stream() -> None:
    talk = talk_with()
    for session_id in ("s1", "c1"):
        talk.update(
            "session_message_chunk",
            session_id=session_id,
            messageId="m",
            content={"type": "text", "text": "Go"},
        )
        talk.update(
            "session_message",
            session_id=session_id,
            messageId="m",
            senderSessionId="c1",
            recipientSessionId="s1",
        )
        talk.update(
            "session_message_chunk",
            session_id=session_id,
            messageId="m",
            content={"type": "text", "text": "!"},
        )
    ours = talk.only(SessionMessage)
    assert (ours.text, ours.received, ours.peer) == ("Go!", True, "Look around")
    (theirs,) = talk.only(Subagent).session.entries
    assert isinstance(theirs, SessionMessage)
    assert (theirs.text, theirs.received, theirs.peer) == ("Go!", False, "")


# --------------------------------------------------------------------------- permissions


def test_a_permission_of_a_subagent_names_it_and_shows_its_call() -> None:
    talk = talk_with(state={"state": "running"})
    talk.tool("t1", session_id="c1", title="rm x", kind="execute", rawInput={"command": "rm x"})
    talk.asks_permission(sessionId="c1", toolCall={"toolCallId": "t1"})
    entry, asked = talk.only(Subagent), talk.only(Permission)
    assert asked.subagent == "c1"
    call = talk.session.tool_calls[asked.call_id]
    assert call is entry.session.tool_calls["t1"]
    assert (call.command, call.status) == ("rm x", "pending")
    assert entry.is_asking
    assert kinds(entry.session) == ["ToolCall", "Permission"]
    talk.reply("p1", {"outcome": {"outcome": "selected", "optionId": "yes"}})
    assert (asked.outcome, entry.is_asking, call.status) == ("selected", False, "in_progress")
    assert call.waited == 1.0


def test_an_agent_takes_a_permission_request_of_a_subagent_back() -> None:
    talk = talk_with()
    talk.asks_permission(sessionId="c1", toolCall={"toolCallId": "t1", "title": "run"})
    talk.received({"method": "$/cancel_request", "params": {"requestId": "p1"}})
    inner = talk.only(Subagent).session
    assert [entry.outcome for entry in inner.entries if isinstance(entry, Permission)] == ["cancelled"]
    assert inner.permissions == {}


def test_a_question_of_a_subagent_names_it_and_is_in_its_transcript() -> None:
    talk = talk_with(state={"state": "running"})
    params = {"mode": "url", "sessionId": "c1", "message": "?", "url": "https://a.eu", "elicitationId": "e"}
    talk.received({"id": "q1", "method": "elicitation/create", "params": params})
    entry, asked = talk.only(Subagent), talk.only(Elicitation)
    assert (asked.subagent, entry.is_asking) == ("c1", True)
    talk.reply("q1", {"action": "accept"})
    talk.received({"method": "elicitation/complete", "params": {"elicitationId": "e"}})
    (inner,) = entry.session.entries
    assert isinstance(inner, Elicitation)
    assert (inner.outcome, inner.completed, entry.is_asking) == ("accept", True, False)


def test_stopping_a_subagent_does_not_stop_the_turn() -> None:
    talk = talk_with(state={"state": "running"}, capabilities={"cancel": {}})
    talk.tool("t1", session_id="c1", status="in_progress")
    talk.record("sent", {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "c1"}})
    entry = talk.only(Subagent)
    assert (talk.session.cancelling, entry.session.cancelling) == (False, True)
    assert entry.session.tool_calls["t1"].status == "cancelled"
    talk.update("state_update", session_id="c1", state="idle", stopReason="cancelled")
    assert (entry.session.cancelling, entry.stop_reason) == (False, "cancelled")


# --------------------------------------------------------------------------- calls that name their parent


@pytest.mark.parametrize("meta", [{"claudeCode": {"parentToolUseId": "task"}}, {"parentToolCallId": "task"}])
def test_updates_that_name_a_tool_call_belong_to_its_subagent(meta: dict[str, Any]) -> None:
    talk = Talk().opened()
    prompt = talk.prompt()
    talk.tool("task", title="Explore", status="in_progress")
    talk.tool("t1", _meta=meta, status="in_progress")
    talk.says("Found it.", _meta=meta)
    talk.tool_update("t1", status="completed")
    entry = talk.only(Subagent)
    assert talk.kinds() == ["UserMessage", "ToolCall", "Subagent"]
    assert kinds(entry.session) == ["ToolCall", "AgentMessage"]
    assert (entry.name, entry.is_running) == ("Explore", True)
    talk.asks_permission(toolCall={"toolCallId": "t1"})
    assert talk.only(Permission).subagent == entry.key
    talk.tool_update("task", status="completed")
    assert not entry.is_running
    talk.end(prompt)
    assert entry.session.reducer_state.open_calls == {}


def test_a_turn_that_ends_ends_the_calls_of_such_a_subagent() -> None:
    talk = Talk().opened()
    prompt = talk.prompt()
    talk.tool("task")
    talk.tool("t1", _meta={"parentToolCallId": "task"}, status="in_progress")
    talk.end(prompt, "cancelled")
    entry = talk.only(Subagent)
    assert (entry.is_running, entry.session.tool_calls["t1"].status) == (False, "unfinished")


def test_an_unknown_parent_is_ignored() -> None:
    talk = Talk().opened()
    talk.prompt()
    talk.tool("t1", _meta={"parentToolCallId": "nobody"})
    assert talk.kinds() == ["UserMessage", "ToolCall"]


def test_a_parent_in_the_session_of_a_subagent_is_ignored() -> None:
    talk = talk_with()
    talk.update("tool_call", session_id="c1", toolCallId="task", title="Task")
    talk.says("Found it.", session_id="c1", _meta={"parentToolCallId": "task"})
    entry = talk.only(Subagent)
    assert kinds(entry.session) == ["ToolCall", "AgentMessage"]
    assert list(talk.session.subagents) == ["c1"]


def test_an_announcement_that_names_a_tool_call_announces_a_session() -> None:
    talk = Talk().opened()
    talk.prompt()
    talk.tool("task")
    announced(talk, "c1", _meta={"parentToolCallId": "task"})
    talk.says("Found it.", session_id="c1")
    assert list(talk.session.subagents) == ["c1"]
    assert kinds(talk.only(Subagent).session) == ["AgentMessage"]


# --------------------------------------------------------------------------- replay and limits


def test_a_replay_restores_subagents() -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    load = talk.call("session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []})
    talk.echoes("hello")
    announced(talk, state={"state": "idle", "stopReason": "end_turn"})
    talk.tool("t1", session_id="c1", status="completed")
    talk.says("Done.", session_id="c1")
    talk.says("It is done.")
    talk.answer(load, {})
    assert talk.kinds() == ["UserMessage", "Subagent", "AgentMessage"]
    assert kinds(talk.only(Subagent).session) == ["ToolCall", "AgentMessage"]


def test_a_replay_does_not_show_known_subagents_twice() -> None:
    talk = talk_with(state={"state": "running"})
    talk.says("Once", session_id="c1")
    talk.end(3)
    load = talk.call("session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []})
    talk.echoes("hello")
    announced(talk, state={"state": "idle", "stopReason": "end_turn"})
    talk.says("Once", session_id="c1")
    talk.answer(load, {})
    talk.says(" more", session_id="c1")
    (entry,) = talk.session.subagents.values()
    assert [entry.text for entry in entry.session.entries if isinstance(entry, AgentMessage)] == ["Once more"]
    assert talk.all(UserMessage)[0].text == "hello"


def test_subagents_are_limited_in_number_depth_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subagents, "MAX_SUBAGENTS", 20)
    monkeypatch.setattr(subagents, "MAX_SIZE", 10_000)
    talk = Talk().opened()
    talk.prompt()
    announced(talk, "d0")
    for level in range(20):
        announced(talk, f"d{level + 1}", session_id=f"d{level}")
    assert len(talk.session.subagents) == subagents.MAX_DEPTH
    for number in range(30):
        announced(talk, f"n{number}")
        talk.says("x", session_id=f"x{number}")
    assert len(talk.session.subagents) == 20
    assert len(talk.session.reducer_state.foreign) <= 20
    for _ in range(20):
        talk.says("y" * 1000, session_id="d0")
    transcript = talk.session.subagents["d0"].session
    assert isinstance(transcript.entries[-1], Notice)
    assert transcript.entries[-1].text.startswith("This transcript is too long")
    talk.asks_permission(sessionId="d0", toolCall={"toolCallId": "t1", "title": "run"})
    assert talk.only(Permission).call_id in talk.session.tool_calls
    assert not any(isinstance(entry, (TurnEnd, ToolCall)) for entry in talk.session.entries)


def test_messages_between_agents_count_for_the_size_of_a_transcript(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subagents, "MAX_SIZE", 10_000)
    talk = talk_with()
    for number in range(3):
        content = [{"type": "text", "text": "y" * 6_000}]
        talk.update("session_message", session_id="c1", messageId=f"m{number}", content=content)
    entry = talk.only(Subagent)
    assert entry.is_truncated
    assert kinds(entry.session) == ["SessionMessage", "Notice"]


def test_summaries_and_early_updates_count_for_the_size_of_a_transcript(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subagents, "MAX_SIZE", 10_000)
    talk = talk_with()
    text = {"type": "text", "text": "y" * 6_000}
    for child in ("c1", "early"):
        for kind in ("content", "more"):
            update = {"compactionId": kind, "content": text}
            talk.update("compaction_summary_chunk", session_id=child, **update)
    announced(talk, "early")
    talk.says("x", session_id="early")
    for child in ("c1", "early"):
        entry = talk.session.subagents[child]
        assert entry.is_truncated
        assert kinds(entry.session) == ["Compaction", "Notice"]

"""Turns: start, cancellation and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.record import REQUEST_CANCELLED, Change
from acp_tui.session.reduce import history
from acp_tui.session.reduce.entries import add_entry, facts_changed, is_user_command, touch
from acp_tui.session.reduce.facts import begin_turn_usage, end_restore, note_turn_tokens, pause_queue
from acp_tui.session.reduce.messages import begin_turn, expect_echo
from acp_tui.session.reduce.notices import add_fault
from acp_tui.session.reduce.tool_calls import close_open_calls, is_unfinished
from acp_tui.session.safe_text import visible_excerpt
from acp_tui.session.state import (
    AgentMessage,
    Content,
    Notice,
    RpcError,
    Session,
    TerminalRef,
    ToolCall,
    TurnEnd,
    UserMessage,
)

if TYPE_CHECKING:
    from acp_tui.session import events as ev

MAX_ID_CHARACTERS = 80


def prompt_sent(session: Session, event: ev.PromptSent, at: float) -> list[Change]:
    """Start a turn with the user's message."""
    changes = history.close(session, at)
    begin_turn(session, at)
    begin_turn_usage(session, at)
    end_restore(session)
    session.reducer_state.prompts += 1
    session.reducer_state.unaccepted += 1
    session.phase = "prompting"
    session.last_error = None
    changes += _add_message(session, event, at)
    return [*changes, *facts_changed("phase", "turn")]


def work_state_changed(session: Session, event: ev.WorkStateChanged, at: float) -> list[Change]:
    """Store what the agent says it is doing. Work that no prompt began is a turn of its own."""
    if session.phase == "loading":
        return []
    session.requires_action = event.state == "requires_action"
    changes = facts_changed("requires_action")
    if event.state in ("running", "requires_action") and session.phase == "idle":
        begin_work(session, at)
        changes += facts_changed("phase", "turn")
    return changes


def turn_accepted(session: Session, _event: ev.TurnAccepted, _at: float) -> list[Change]:
    """Note that the agent has begun a prompt."""
    memory = session.reducer_state
    memory.unaccepted = max(0, memory.unaccepted - 1)
    return []


def background_work_changed(session: Session, event: ev.BackgroundWorkChanged, _at: float) -> list[Change]:
    session.background_calls, session.background_terminals = event.call_ids, event.terminal_ids
    return facts_changed("background_calls")


def begin_work(session: Session, at: float) -> None:
    """Start a turn without a prompt, unless the agent or the subagent is already working."""
    if not session.reducer_state.prompts:
        begin_turn(session, at)
        session.reducer_state.prompts = 1
    session.phase = "prompting"


def steered(session: Session, event: ev.Steered, at: float) -> list[Change]:
    """Add a user message that the agent accepted during the turn."""
    return _add_message(session, event, at, steering=True)


def _add_message(
    session: Session, event: ev.PromptSent | ev.Steered, at: float, *, steering: bool = False
) -> list[Change]:
    parts = [_part(content) for content in event.contents]
    expect_echo(session, event.raw_text)
    return add_entry(session, UserMessage(id=0, at=at, parts=parts, steering=steering), at)


def _part(content: Content) -> GrowingText | Content:
    plain = content.kind == "text" and content.annotations is None
    return GrowingText(content.text) if plain else content


def cancel_sent(session: Session, _event: ev.CancelSent, at: float) -> list[Change]:
    """Mark the unfinished tool calls as cancelled. The turn itself ends later."""
    session.cancelling = session.working
    return [*close_open_calls(session, "cancelled", at), *facts_changed("cancelling")]


def turn_ended(session: Session, event: ev.TurnEnded, at: float) -> list[Change]:
    """End the turn, unless it has ended already.

    In the 0.1.0 draft of the protocol, the agent can report the end twice.
    """
    if not session.working:
        return []
    empty = event.stop_reason == "end_turn" and not any(event.tokens.values()) and _is_turn_empty(session)
    note_turn_tokens(session, event)
    changes = facts_changed("usage")
    if session.auth_required:
        session.auth_required = False
        changes += facts_changed("auth_required")
    unfinished = _unanswered_calls(session) if event.stop_reason == "end_turn" else 0
    return [*changes, *end_turn(session, at, event.stop_reason, empty=empty, unfinished=unfinished)]


def turn_failed(session: Session, event: ev.TurnFailed, at: float) -> list[Change]:
    """End the turn with an error. If the error only confirms a cancellation, end the turn as cancelled."""
    if session.cancelling and event.error.code == REQUEST_CANCELLED:
        return end_turn(session, at, "cancelled")
    return [*note_error(session, event.error), *end_turn(session, at, None, event.error)]


def note_error(session: Session, error: RpcError) -> list[Change]:
    """Store an error, and whether it means that the user must sign in."""
    session.last_error = error
    if not error.auth_required:
        return facts_changed("last_error")
    session.auth_required = True
    if error.auth_methods and session.agent is not None:
        session.agent.auth_methods = error.auth_methods
    return facts_changed("last_error", "auth_required")


def end_turn(
    session: Session,
    at: float,
    stop_reason: str | None,
    error: RpcError | None = None,
    *,
    empty: bool = False,
    unfinished: int = 0,
) -> list[Change]:
    """End a turn. If no other prompt is unanswered, also end the unfinished tool calls.

    Mark the entries of a refused turn as withdrawn. If the turn did not end normally, pause a queue that
    holds prompts. `empty` means that the agent seems to have sent nothing in the turn;
    `unfinished` is the number of calls after which it said nothing.
    """
    memory = session.reducer_state
    # In version 2, the end of the work ends all prompts that the agent has begun.
    memory.prompts = memory.unaccepted if session.dialect == "v2" else max(0, memory.prompts - 1)
    end = TurnEnd(id=0, at=at, stop_reason=stop_reason, error=error, empty=empty, unfinished=unfinished)
    changes = [*_report_unknown_terminals(session, at), *add_entry(session, end, at)]
    if not memory.prompts:
        session.phase = "idle"
        session.turn_started = None
        status = "cancelled" if session.cancelling else "unfinished"
        changes += close_open_calls(session, status, at)
    session.cancelling = session.requires_action = False
    session.stop_reason = stop_reason
    memory.echo_at = None
    if stop_reason == "refusal":
        changes += _withdraw(session)
    if stop_reason != "end_turn" and session.queue:
        pause_queue(session, paused=True)
        changes += facts_changed("queue")
    return [*changes, *facts_changed("phase", "stop_reason")]


def _is_turn_empty(session: Session) -> bool:
    """Return True if the agent added no entry but notices in the turn, so the prompt may have been lost."""
    return all(
        isinstance(entry, (UserMessage, Notice)) or is_user_command(entry)
        for entry in session.entries[session.reducer_state.turn_began :]
    )


def _unanswered_calls(session: Session) -> int:
    """Return how many calls of the turn are unfinished; 0 if the agent has said something after the first."""
    waiting = [call for call in session.reducer_state.open_calls.values() if is_unfinished(call)]
    waiting = [call for call in waiting if call.turn == session.turn]
    if not waiting:
        return 0
    first = min(call.id for call in waiting)
    turn = session.entries[session.reducer_state.turn_began :]
    answered = any(isinstance(entry, AgentMessage) and entry.id > first for entry in turn)
    return 0 if answered else len(waiting)


def _report_unknown_terminals(session: Session, at: float) -> list[Change]:
    """Name the terminals in the turn's tool calls that were never created.

    Only at the end of the turn: some agents describe their own terminals after the call that names them.
    """
    changes: list[Change] = []
    turn = session.entries[session.reducer_state.turn_began :]
    for call in (entry for entry in turn if isinstance(entry, ToolCall)):
        for item in call.content:
            if isinstance(item, TerminalRef) and item.terminal_id not in session.terminals:
                name = visible_excerpt(item.terminal_id, MAX_ID_CHARACTERS)
                text = f'The tool call "{call.title}" names a terminal that does not exist: {name}'
                changes += add_fault(session, text, at)
    return changes


def _withdraw(session: Session) -> list[Change]:
    """Mark the entries of a refused turn as withdrawn: the agent has removed them from its context."""
    changes: list[Change] = []
    for entry in session.entries[session.reducer_state.turn_began :]:
        if not is_user_command(entry):
            entry.withdrawn = True
            changes.append(touch(entry))
    return changes

"""Notices of the client and the agent, messages by hand, unknown messages, and protocol faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.session.record import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_ALLOWED,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
    Change,
)
from acp_tui.session.reduce.entries import add_entry, touch
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.session.state import HandMessage, Notice, Session, Unrecognised

if TYPE_CHECKING:
    from acp_tui.session import events as ev

MAX_DETAIL = 4_000
"""The maximum number of characters to show of an invalid message or output. The log has the whole text."""
MAX_REPEATS = 100
"""How many further messages an `Unrecognised` entry keeps. The log has all of them."""
_AGENT_FAULTS = frozenset({INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS})


def ignore(_session: Session, _event: ev.Event, _at: float) -> list[Change]:
    return []


def noticed(session: Session, event: ev.Noticed, at: float) -> list[Change]:
    """Add a notice of acp-tui.

    If the event's source is "waited", replace the text of the last notice from the source "waiting" instead.
    If there is no such notice, or if the text of that notice was replaced before, add a notice.
    """
    memory = session.reducer_state
    if event.source == "waited" and memory.waiting is not None:
        waiting, memory.waiting = memory.waiting, None
        waiting.text = event.text
        return [touch(waiting)]
    entry = Notice(id=0, at=at, level=event.level, text=event.text, detail=event.detail, source=event.source)
    if event.source == "waiting":
        memory.waiting = entry
    return add_entry(session, entry, at)


def agent_notice(session: Session, event: ev.AgentNotice, at: float) -> list[Change]:
    """Add a notice of the agent. If the same notice occurs again in the turn, only increase its count."""
    entry, count, changes = _count(session, f"notice {event.level} {event.text} {event.detail}", at)
    entry.source, entry.level, entry.detail = "agent", event.level, event.detail
    entry.text = event.text if count == 1 else f"{event.text} ({count} times)"
    return changes


def hand_message_sent(session: Session, event: ev.HandMessageSent, at: float) -> list[Change]:
    """Add a message that the user wrote."""
    is_request = event.request_id is not None
    entry = HandMessage(
        id=0,
        at=at,
        source="hand",
        text=f"You sent {'' if is_request else 'the notification '}{escape_line(event.method)}",
        method=event.method,
        request_id=event.request_id,
        raw_params=event.params,
        faults=event.faults,
    )
    if is_request:
        session.reducer_state.hand_messages[event.request_id] = entry
    return add_entry(session, entry, at)


def hand_message_answered(session: Session, event: ev.HandMessageAnswered, at: float) -> list[Change]:
    """Add the agent's answer to the message that the user wrote."""
    entry = session.reducer_state.hand_messages.pop(event.request_id, None)
    if entry is None:
        return []
    entry.status = "answered" if event.error is None else "failed"
    entry.raw_result, entry.error, entry.ended_at = event.result, event.error, at
    return [touch(entry)]


def hand_message_cancelled(session: Session, event: ev.HandMessageCancelled, _at: float) -> list[Change]:
    """Mark a request that the user wrote as cancelled. A late answer is still shown."""
    entry = session.reducer_state.hand_messages.get(event.request_id)
    if entry is None:
        return []
    entry.status = "cancelled"
    return [touch(entry)]


def end_hand_messages(session: Session) -> list[Change]:
    """Mark the unanswered messages of the user: the agent that could answer them is gone."""
    pending = [*session.reducer_state.hand_messages.values()]
    session.reducer_state.hand_messages.clear()
    for entry in pending:
        entry.status = "unanswered"
    return [touch(entry) for entry in pending]


def unknown(session: Session, event: ev.Unknown, at: float) -> list[Change]:
    """Show a message of an unknown kind. Messages of one kind that follow each other share an entry."""
    last = session.entries[-1] if session.entries else None
    if isinstance(last, Unrecognised) and last.what == event.what and last.turn == session.turn:
        last.count += 1
        if len(last.repeats) < MAX_REPEATS:
            last.repeats.append(event.raw)
        return [touch(last)]
    return add_entry(session, Unrecognised(id=0, at=at, what=event.what, raw=event.raw), at)


def request_refused(session: Session, event: ev.RequestRefused, at: float) -> list[Change]:
    """Show that a request of the agent was answered with an error. Repetitions in the turn are counted.

    Not shown: a cancelled request, and one that the user, a rule or the policy rejected, because
    `requests.decided` has added a notice already.
    """
    code = event.error.code
    is_reported = event.request_id in session.reducer_state.rejected
    session.reducer_state.rejected.discard(event.request_id)
    if code == REQUEST_CANCELLED or (is_reported and code == NOT_ALLOWED):
        return []
    is_unknown_terminal = code == RESOURCE_NOT_FOUND and event.method != "terminal/create"
    is_fault = code in _AGENT_FAULTS or is_unknown_terminal
    reason = escape_line(event.error.message.removeprefix(f"{event.method}: "))
    verb = "Refused" if is_fault else "Could not answer"
    text = event.about or f"{verb} {event.method}: {reason}"
    entry, count, changes = _count(session, text, at)
    if count == 1:
        entry.level, entry.detail = "warning", event.error.detail
        entry.source = "protocol" if is_fault else "client"
    entry.text = text if count == 1 else f"{text} ({count} times)"
    return changes


def protocol_fault(session: Session, event: ev.ProtocolFault, at: float) -> list[Change]:
    return add_fault(session, event.text, at, event.raw)


def add_fault(session: Session, text: str, at: float, raw: Any = None) -> list[Change]:
    """Show a fault in what the agent sent. If it occurs again in the turn, only increase its count."""
    entry, count, changes = _count(session, text, at)
    if count == 1:
        entry.level = "warning"
        entry.detail = None if raw is None else visible_excerpt(raw, MAX_DETAIL)
    entry.text = text if count == 1 else f"{text} ({count} times)"
    return changes


def noise(session: Session, event: ev.Noise, at: float) -> list[Change]:
    """Record a line of stdout that is not a protocol message. All such lines of a turn share one notice."""
    entry, count, changes = _count(session, "noise", at)
    if count == 1:
        entry.text = "1 line on the agent's stdout was not a protocol message"
    else:
        entry.text = f"{count} lines on the agent's stdout were not protocol messages"
    kept = entry.detail or ""
    if len(kept) < MAX_DETAIL:
        entry.detail = f"{kept}\n{event.text}".lstrip("\n")[:MAX_DETAIL]
    return changes


def _count(session: Session, what: str, at: float) -> tuple[Notice, int, list[Change]]:
    """Count an event. Return the turn's notice for events with this `what`, their count, and the changes."""
    repeated = session.reducer_state.repeated
    if what not in repeated:
        entry = Notice(id=0, at=at, source="protocol")
        repeated[what] = (entry, 1)
        return entry, 1, add_entry(session, entry, at)
    entry, count = repeated[what]
    repeated[what] = (entry, count + 1)
    return entry, count + 1, [touch(entry)]

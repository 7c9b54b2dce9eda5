"""Adds entries to the session and marks them as changed."""

from __future__ import annotations

from collections.abc import Sequence

from acp_tui.session.record import Change
from acp_tui.session.state import AgentMessage, Entry, Level, Notice, Session, Terminal, Thought, Unrecognised


def add_entry(session: Session, entry: Entry, at: float) -> list[Change]:
    """Append an entry to the session.

    The entry ends the message to which chunks are being added. After a `Notice`, an `Unrecognised` or a user
    command, the message ends with its current paragraph.
    """
    changes: list[Change] = []
    memory = session.reducer_state
    if not (isinstance(entry, (Notice, Unrecognised)) or is_user_command(entry)):
        changes = end_message(session, at)
    elif isinstance(memory.message, AgentMessage) and memory.message.parts:
        memory.split = (memory.message, 0)
    entry.id = len(session.entries)
    entry.at = at
    entry.turn = session.turn
    session.entries.append(entry)
    changes.append(Change("added", entry))
    return changes


def is_user_command(entry: Entry) -> bool:
    return isinstance(entry, Terminal) and entry.owner == "user"


def touch(entry: Entry) -> Change:
    """Increase the version of an entry, and return the change for the views."""
    entry.version += 1
    return Change("updated", entry)


def end_message(session: Session, at: float) -> list[Change]:
    """End the message to which chunks are being added, so that the next chunk starts a new message."""
    message = session.reducer_state.message
    session.reducer_state.message = session.reducer_state.split = None
    if isinstance(message, Thought) and message.ended_at is None:
        message.ended_at = at
        return [touch(message)]
    return []


def out_of_phase(session: Session) -> bool:
    """Return True if the turn was cancelled, or if neither a turn is running nor a session is loading."""
    return session.phase not in ("prompting", "loading") or session.cancelling


def add_notice(
    session: Session,
    at: float,
    text: str,
    *,
    level: Level = "info",
    detail: str | None = None,
    source: str = "client",
    rule_ids: Sequence[str] = (),
) -> list[Change]:
    notice = Notice(
        id=0, at=at, level=level, text=text, detail=detail, source=source, rule_ids=list(rule_ids)
    )
    return add_entry(session, notice, at)


def facts_changed(*names: str) -> list[Change]:
    """Return the changes that tell views that these attributes of the session have new values."""
    return [Change("fact", None, name) for name in names]

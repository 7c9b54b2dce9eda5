"""Applies events to the transcripts of subagents, and reports the changes as changes of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.change import Change
from acp_tui.session.reduce.entries import add_notice, touch
from acp_tui.session.reduce.subagents import limits
from acp_tui.session.state import Message, Subagent, TerminalRef, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.state import Session

    Apply = Callable[[Session, ev.Event, float], list[Change]]

_REQUEST_EVENTS = (
    ev.PermissionRequested,
    ev.PermissionAnswered,
    ev.Decided,
    ev.RequestWithdrawn,
    ev.ElicitationRequested,
    ev.ElicitationAnswered,
    ev.ElicitationCompleted,
)


def apply_to(root: Session, entry: Subagent, event: ev.Event, at: float, apply: Apply) -> list[Change]:
    """Apply an event to the session of a subagent.

    If the transcript is or becomes too long, only events about requests are applied.
    """
    if not _is_about_request(event):
        notice = add_size(entry, limits.EVENT_SIZE + limits.text_size(event), at)
        if entry.is_truncated:
            return lift(root, entry, notice) if notice else []
    changes = count_added(entry, apply(entry.session, event, at))
    if type(event) is ev.ToolCallChanged:
        for item in event.content or ():
            if isinstance(item, TerminalRef) and item.terminal_id in root.terminals:
                entry.session.terminals.setdefault(item.terminal_id, root.terminals[item.terminal_id])
    return lift(root, entry, changes)


def add_size(entry: Subagent, size: int, at: float) -> list[Change]:
    """Count an addition to a transcript. If the transcript becomes too long, truncate it with a notice."""
    entry.size += size
    if entry.is_truncated or entry.size <= limits.MAX_SIZE:
        return []
    entry.is_truncated = True
    text = "This transcript is too long: the rest of it is only in the session's log."
    return add_notice(entry.session, at, text, level="warning")


def _is_about_request(event: ev.Event) -> bool:
    """Return True for events about requests to the user: events that even a truncated transcript gets."""
    if type(event) is ev.ToolCallChanged:
        return event.asked
    return isinstance(event, _REQUEST_EVENTS)


def count_added(entry: Subagent, changes: list[Change]) -> list[Change]:
    """Add the new messages and tool calls to the subagent's counts. Return `changes` as they are."""
    for change in changes:
        if change.kind == "added":
            entry.message_count += isinstance(change.entry, Message)
            entry.call_count += isinstance(change.entry, ToolCall)
    return changes


def lift(root: Session, entry: Subagent, changes: list[Change]) -> list[Change]:
    """Return the changes of a subagent's session as changes of `root`.

    The `Subagent` entries of this subagent and of its ancestors are also reported as updated.
    """
    owner: Subagent | None = entry
    while owner is not None:
        lifted = [
            change if change.kind == "subagent" else Change("subagent", session=owner.session, inner=change)
            for change in changes
        ]
        changes = [*lifted, touch(owner)]
        owner = root.subagents.get(owner.parent)
    return changes

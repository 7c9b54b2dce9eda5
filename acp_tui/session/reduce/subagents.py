"""Subagents: other agents that the agent started.

Each has a `Session` of its own, which belongs to its `Subagent` entry. The same reducer applies its events to
that session. The conversation's session (`root`) holds all subagents by key, including
those that other subagents started.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.change import Change
from acp_tui.session.reduce import requests
from acp_tui.session.reduce.entries import add_entry, add_notice, end_message, out_of_phase, touch
from acp_tui.session.reduce.messages import session_message
from acp_tui.session.reduce.tool_calls import close_open_calls, tool_call_changed
from acp_tui.session.reduce.turns import begin_work, end_turn
from acp_tui.session.state import (
    Content,
    Diff,
    ForeignSession,
    Message,
    Notice,
    Session,
    Subagent,
    TerminalRef,
    ToolCall,
)
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable

    Apply = Callable[[Session, ev.Event, float], list[Change]]

MAX_SUBAGENTS = 200
"""The maximum number of subagents in a conversation.

This is also the limit for sessions that were not announced; these are counted separately.
"""
MAX_DEPTH = 8
"""How deeply subagents may be nested. Those that the main agent starts have the depth 1."""
MAX_SIZE = 8_000_000
"""The maximum size of a subagent's transcript, in characters. Updates beyond it are only in the log."""
EVENT_SIZE = 200
"""What an event counts towards `MAX_SIZE` in addition to its text, in characters."""
_REQUEST_EVENTS = (
    ev.PermissionRequested,
    ev.PermissionAnswered,
    ev.Decided,
    ev.RequestWithdrawn,
    ev.ElicitationRequested,
    ev.ElicitationAnswered,
    ev.ElicitationCompleted,
)


# --------------------------------------------------------------------------- announced sessions


def subagent_changed(root: Session, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Add or update a subagent that was started by the main agent, not by another subagent."""
    return _announce(root, None, event, at) if event.session_id else []


def elsewhere(root: Session, event: ev.Elsewhere, at: float, apply: Apply) -> list[Change]:
    """Apply an event of a subagent's session, or of a session that was not announced.

    If the event also names a parent tool call, as `InSubagent` does, the call's id is ignored: an agent
    that reports one subagent as a session reports all of them as sessions.
    """
    entry, inner = root.subagents.get(event.session_id), event.inner
    if type(inner) is ev.InSubagent:
        inner = inner.inner
    if entry is None:
        return _unannounced(root, event.session_id, inner, at, apply)
    if type(inner) is ev.SubagentChanged:
        if not inner.session_id:  # its own state
            return _announce(root, None, replace(inner, session_id=event.session_id), at)
        return _announce(root, entry, inner, at)
    if type(inner) is ev.SessionMessageChanged:
        return _lift(root, entry, _message_changed(root, entry, inner, at))
    return apply_to(root, entry, inner, at, apply)


def _announce(root: Session, parent: Subagent | None, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Add the subagent if it is new, and apply what the agent says about it."""
    entry = root.subagents.get(event.session_id)
    changes: list[Change] = []
    if entry is None:
        if event.session_id == root.session_id or not _has_room(root, parent):
            return []
        where = parent.session if parent else root
        foreign = root.reducer_state.foreign.pop(event.session_id, None)
        entry = Subagent(
            id=0,
            at=at,
            key=event.session_id,
            session=foreign.session if foreign else Session(session_id=event.session_id, phase="prompting"),
            session_id=event.session_id,
            parent=parent.key if parent else "",
            size=foreign.size if foreign else 0,
            stray=out_of_phase(where),
        )
        changes = add_entry(where, entry, at)
        if parent is not None:
            changes = _lift(root, parent, changes)
        _count(entry, [Change("added", known) for known in entry.session.entries])
        entry.session.cwd, entry.session.mcp_servers = where.cwd, root.mcp_servers
        root.subagents[entry.key] = entry
        if foreign is not None:
            foreign.notice.text = "A subagent sent updates before it was announced"
            changes.append(touch(foreign.notice))
    entry.title = entry.title if event.title is None else event.title
    entry.description = entry.description if event.description is None else event.description
    entry.can_cancel = entry.can_cancel if event.can_cancel is None else event.can_cancel
    entry.session.title = entry.title
    entry.session.cwd = event.cwd or entry.session.cwd
    inner = [] if event.state is None else _set_state(root, entry, event, at)
    return [*changes, *_lift(root, entry, inner)]


def _has_room(root: Session, parent: Subagent | None) -> bool:
    depth = 1
    while parent is not None:
        depth += 1
        parent = root.subagents.get(parent.parent)
    return depth <= MAX_DEPTH and len(root.subagents) < MAX_SUBAGENTS


def _set_state(root: Session, entry: Subagent, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Apply a new state to a subagent. An idle subagent keeps its session, because it may work again."""
    session, was_running, entry.state = entry.session, entry.is_running, event.state or ""
    if entry.is_running:
        entry.stop_reason = entry.error = None
        if not was_running:
            entry.began_at, entry.ended_at = at, None
        begin_work(session, at)
        return []
    entry.ended_at = at if was_running else entry.ended_at
    if entry.state != "idle":
        return []
    entry.stop_reason = event.stop_reason
    entry.error = event.error.message if event.error is not None else None
    if session.phase != "prompting":
        return []
    entry.size += EVENT_SIZE
    if event.stop_reason is None or entry.is_truncated or not was_running:
        session.phase = "loading" if root.phase == "loading" else "idle"  # its history may follow
        return [*end_message(session, at), *close_open_calls(session, "unfinished", at)]
    return end_turn(session, at, None if event.error else event.stop_reason, event.error)


# --------------------------------------------------------------------------- their events


def apply_to(root: Session, entry: Subagent, event: ev.Event, at: float, apply: Apply) -> list[Change]:
    """Apply an event to the session of a subagent, unless its transcript is too long already."""
    if not _is_about_request(event):
        entry.size += EVENT_SIZE + _text_size(event)
        if entry.is_truncated:
            return []
        if entry.size > MAX_SIZE:
            entry.is_truncated = True
            text = "This transcript is too long: the rest of it is only in the session's log."
            return _lift(root, entry, _count(entry, add_notice(entry.session, at, text, level="warning")))
    changes = _count(entry, apply(entry.session, event, at))
    if type(event) is ev.ToolCallChanged:
        for item in event.content or ():
            if isinstance(item, TerminalRef) and item.terminal_id in root.terminals:
                entry.session.terminals.setdefault(item.terminal_id, root.terminals[item.terminal_id])
    return _lift(root, entry, changes)


def _is_about_request(event: ev.Event) -> bool:
    """Return True for events about requests to the user. They are applied even to a truncated transcript."""
    if type(event) is ev.ToolCallChanged:
        return event.asked
    return isinstance(event, _REQUEST_EVENTS)


def _text_size(event: ev.Event) -> int:
    match event:
        case ev.TextChunk() | ev.TerminalOutput():
            return len(event.text)
        case ev.ToolCallChanged():
            return sum(map(_content_size, event.content or ()))
        case ev.ContentChunk():
            return _content_size(event.content)
        case ev.CompactionChunk():
            return len(event.text) + _content_size(event.content)
        case ev.CompactionChanged():
            return sum(map(_content_size, event.summary or ()))
    return 0


def _content_size(item: Content | Diff | TerminalRef | None) -> int:
    if isinstance(item, Content):
        return len(item.text) + len(item.data or "")
    return len(item.old or "") + len(item.new or "") if isinstance(item, Diff) else 0


def _count(entry: Subagent, changes: list[Change]) -> list[Change]:
    """Add the new messages and tool calls to the subagent's counts. Return `changes` as they are."""
    for change in changes:
        if change.kind == "added":
            entry.message_count += isinstance(change.entry, Message)
            entry.call_count += isinstance(change.entry, ToolCall)
    return changes


def _lift(root: Session, entry: Subagent, changes: list[Change]) -> list[Change]:
    """Return the changes of a subagent's session as changes of `root`.

    The `Subagent` entries of this subagent and of those that it is nested in are reported as updated, too.
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


# --------------------------------------------------------------------------- sessions without announcement


def _unannounced(root: Session, session_id: str, event: ev.Event, at: float, apply: Apply) -> list[Change]:
    """Apply an event of a session that was not announced. Add a notice for the session's first event.

    The events are kept, because the session may be announced as a subagent's later.
    """
    if type(event) is ev.ToolCallChanged and event.asked:  # the permission is asked all the same
        return tool_call_changed(root, replace(event, call_id=f"{session_id}/{event.call_id}"), at)
    foreign = root.reducer_state.foreign
    known = foreign.get(session_id)
    changes: list[Change] = []
    if known is None:
        if len(foreign) >= MAX_SUBAGENTS:
            return []
        name = visible_line(session_id)
        text = f"The agent sent updates for another session, {name}; they are not shown"
        notice = Notice(id=0, at=at, text=text, source="protocol")
        changes = add_entry(root, notice, at)
        known = ForeignSession(Session(session_id=session_id, phase="prompting"), notice)
        foreign[session_id] = known
    known.size += EVENT_SIZE + _text_size(event)
    if known.size <= MAX_SIZE and not isinstance(event, (ev.SubagentChanged, ev.SessionMessageChanged)):
        apply(known.session, event, at)
    return changes


# --------------------------------------------------------------------------- calls that name their parent


def in_subagent(root: Session, event: ev.InSubagent, at: float, apply: Apply) -> list[Change]:
    """Apply an event of a subagent that is identified only by the tool call that started it.

    If that call is unknown, the event is applied to the conversation's own session.
    """
    inner, key = event.inner, f"call {event.call_id}"
    own = isinstance(inner, (ev.SubagentChanged, ev.SessionMessageChanged)) or (
        type(inner) is ev.ToolCallChanged and inner.call_id == event.call_id  # the call names itself
    )
    entry, changes = root.subagents.get(key), []
    if entry is None and not own:
        parent = root.reducer_state.call_owners.get(event.call_id)
        where = parent.session if parent else root
        call = where.tool_calls.get(event.call_id)
        if call is not None and _has_room(root, parent):
            entry = Subagent(
                id=0,
                at=at,
                key=key,
                session=Session(phase="prompting", cwd=root.cwd, mcp_servers=root.mcp_servers),
                call=call,
                parent=parent.key if parent else "",
                began_at=call.at,
                stray=out_of_phase(where),
            )
            changes = add_entry(where, entry, at)
            if parent is not None:
                changes = _lift(root, parent, changes)
            root.subagents[key] = entry
    if entry is None or own:
        return apply(root, inner, at)
    if type(inner) is ev.ToolCallChanged:
        root.reducer_state.call_owners[inner.call_id] = entry
    return [*changes, *apply_to(root, entry, inner, at, apply)]


def owned_call_changed(root: Session, event: ev.ToolCallChanged, at: float, apply: Apply) -> list[Change]:
    """Update a tool call of the agent or of a subagent, even if the update does not name the subagent."""
    entry = root.reducer_state.call_owners.get(event.call_id)
    if entry is not None:
        return apply_to(root, entry, event, at, apply)
    changes = tool_call_changed(root, event, at)
    if root.subagents and (started := root.subagents.get(f"call {event.call_id}")) is not None:
        changes.append(touch(started))  # its state is that of the call
    return changes


# --------------------------------------------------------------------------- messages between sessions


def message_changed(root: Session, event: ev.SessionMessageChanged, at: float) -> list[Change]:
    """Add or change a message between the agent itself and a subagent."""
    return _message_changed(root, None, event, at)


def _message_changed(
    root: Session, entry: Subagent | None, event: ev.SessionMessageChanged, at: float
) -> list[Change]:
    """Add or change a message in the transcript of the subagent `entry`; None means the main agent."""
    session = entry.session if entry is not None else root
    own_id = entry.session_id if entry is not None else root.session_id
    if entry is not None:
        entry.size += EVENT_SIZE + sum(_content_size(item) for item in event.contents or ())
        if entry.is_truncated or entry.size > MAX_SIZE:
            return []
    changes = session_message(session, event, own_id, at)
    message = session.reducer_state.session_messages[event.message_id]
    peer = root.subagents.get(message.peer_id)
    message.peer = peer.name if peer is not None else ""
    return changes if entry is None else _count(entry, changes)


# --------------------------------------------------------------------------- the end


def end_loading(root: Session) -> None:
    """Mark subagents as idle once their history has been replayed."""
    for entry in root.subagents.values():
        if entry.session.phase == "loading":
            entry.session.phase = "idle"


def end_all(root: Session, at: float) -> list[Change]:
    """End all subagents, because the agent has exited."""
    changes: list[Change] = []
    for entry in root.subagents.values():
        session = entry.session
        if session.phase != "prompting" and not entry.is_running:
            continue
        session.phase = "idle"
        entry.ended_at = at if entry.is_running else entry.ended_at
        entry.state = "ended"
        inner = [*end_message(session, at), *close_open_calls(session, "unfinished", at)]
        inner += requests.cancel_all(session, "The agent exited")
        changes += _lift(root, entry, inner)
    return changes


def close_calls(root: Session, at: float) -> list[Change]:
    """End the open calls of the running subagents that were started by a tool call which has ended."""
    changes: list[Change] = []
    for entry in root.subagents.values():
        if entry.call is not None and entry.call.done and entry.is_running:
            status = entry.call.status if entry.call.status == "cancelled" else "unfinished"
            changes += _lift(root, entry, close_open_calls(entry.session, status, at))
            entry.ended_at = at
    return changes

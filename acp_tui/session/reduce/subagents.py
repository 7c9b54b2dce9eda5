"""Subagents: their sessions, messages, requests and tool calls, inside the entry of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.session import events as ev
from acp_tui.session.record import Change
from acp_tui.session.reduce import requests
from acp_tui.session.reduce.entries import add_entry, add_notice, end_message, out_of_phase, touch
from acp_tui.session.reduce.messages import session_message
from acp_tui.session.reduce.rules import reduce
from acp_tui.session.reduce.tool_calls import close_open_calls, tool_call_changed
from acp_tui.session.reduce.turns import begin_work, end_turn
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import (
    Content,
    Diff,
    Elicitation,
    ForeignSession,
    Message,
    Notice,
    Permission,
    Session,
    Subagent,
    TerminalRef,
    ToolCall,
)

if TYPE_CHECKING:
    from acp_tui.session.reduce.rules import Handler


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


# --------------------------------------------------------------------------- limits


def has_room(root: Session, parent: Subagent | None) -> bool:
    """Return True if `parent` may start one more subagent; None means the main agent."""
    depth = 1
    while parent is not None:
        depth += 1
        parent = root.subagents.get(parent.parent)
    return depth <= MAX_DEPTH and len(root.subagents) < MAX_SUBAGENTS


def add_size(entry: Subagent, size: int, at: float) -> list[Change]:
    """Count an addition to a transcript. If the transcript becomes too long, truncate it with a notice."""
    entry.size += size
    if entry.is_truncated or entry.size <= MAX_SIZE:
        return []
    entry.is_truncated = True
    text = "This transcript is too long: the rest of it is only in the session's log."
    return add_notice(entry.session, at, text, level="warning")


def text_size(event: ev.Event) -> int:
    """Return the length of the text that an event adds to a transcript."""
    match event:
        case ev.TextChunk() | ev.TerminalOutput():
            return len(event.text)
        case ev.ToolCallChanged():
            return sum(map(content_size, [*(event.content or ()), *event.added]))
        case ev.MessageReplaced():
            return sum(map(content_size, event.contents or ()))
        case ev.ContentChunk():
            return content_size(event.content)
        case ev.CompactionChunk():
            return len(event.text) + content_size(event.content)
        case ev.CompactionChanged():
            return sum(map(content_size, event.summary or ()))
    return 0


def content_size(item: Content | Diff | TerminalRef | None) -> int:
    """Return the length of a piece of content. A reference to a terminal has none."""
    if isinstance(item, Content):
        return len(item.text) + len(item.data or "")
    return len(item.old or "") + len(item.new or "") if isinstance(item, Diff) else 0


# --------------------------------------------------------------------------- a subagent's session


def apply_to(root: Session, entry: Subagent, event: ev.Event, at: float) -> list[Change]:
    """Apply an event to the session of a subagent.

    If the transcript is or becomes too long, only events about requests are applied.
    """
    if not _is_about_request(event):
        notice = add_size(entry, EVENT_SIZE + text_size(event), at)
        if entry.is_truncated:
            return lift(root, entry, notice) if notice else []
    changes = count_added(entry, reduce(entry.session, event, at))
    if type(event) is ev.ToolCallChanged:
        for item in [*(event.content or ()), *event.added]:
            if isinstance(item, TerminalRef) and item.terminal_id in root.terminals:
                entry.session.terminals.setdefault(item.terminal_id, root.terminals[item.terminal_id])
    return lift(root, entry, changes)


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


# --------------------------------------------------------------------------- subagents known by a session


def subagent_changed(root: Session, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Add or update a subagent that was started by the main agent, not by another subagent."""
    return _announce(root, None, event, at) if event.session_id else []


def elsewhere(root: Session, event: ev.OtherSessionUpdate, at: float) -> list[Change]:
    """Apply an event of a subagent's session, or of a session that was not announced.

    If the event also names a parent tool call, as `InSubagent` does, the call's id is ignored: an agent
    that reports one subagent as a session reports all subagents as sessions.
    """
    entry, inner = root.subagents.get(event.session_id), event.inner
    if type(inner) is ev.InSubagent:
        inner = inner.inner
    if entry is None:
        return _unannounced(root, event.session_id, inner, at)
    if type(inner) is ev.SubagentChanged:
        if not inner.session_id:  # its own state
            return _announce(root, None, replace(inner, session_id=event.session_id), at)
        return _announce(root, entry, inner, at)
    if type(inner) is ev.SessionMessageChanged:
        return lift(root, entry, change_message(root, entry, inner, at))
    return apply_to(root, entry, inner, at)


def _announce(root: Session, parent: Subagent | None, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Add the subagent if it is new, and apply what the agent says about the subagent.

    Ignore a new subagent if there are too many.
    """
    entry = root.subagents.get(event.session_id)
    changes: list[Change] = []
    if entry is None:
        if event.session_id == root.session_id or not has_room(root, parent):
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
        changes = _add(root, parent, entry, at)
        count_added(entry, [Change("added", known) for known in entry.session.entries])
        entry.session.cwd, entry.session.mcp_servers = where.cwd, root.mcp_servers
        if foreign is not None:
            foreign.notice.text = "A subagent sent updates before it was announced"
            changes.append(touch(foreign.notice))
    entry.title = entry.title if event.title is None else event.title
    entry.description = entry.description if event.description is None else event.description
    entry.can_cancel = entry.can_cancel if event.can_cancel is None else event.can_cancel
    entry.session.title = entry.title
    entry.session.cwd = event.cwd or entry.session.cwd
    inner = [] if event.state is None else _set_state(root, entry, event, at)
    return [*changes, *lift(root, entry, inner)]


def _add(root: Session, parent: Subagent | None, entry: Subagent, at: float) -> list[Change]:
    """Add a subagent to the transcript of `parent`; None means the main agent."""
    root.subagents[entry.key] = entry
    if parent is None:
        return add_entry(root, entry, at)
    return lift(root, parent, add_entry(parent.session, entry, at))


def _set_state(root: Session, entry: Subagent, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Apply a new state to a subagent. An idle subagent keeps its session, because it can work again."""
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
        # While the conversation loads, history of the subagent may follow.
        session.phase = "loading" if root.phase == "loading" else "idle"
        return [*end_message(session, at), *close_open_calls(session, "unfinished", at)]
    return end_turn(session, at, None if event.error else event.stop_reason, event.error)


def _unannounced(root: Session, session_id: str, event: ev.Event, at: float) -> list[Change]:
    """Apply an event of a session that was not announced, within the limits.

    Add a notice for the session's first event.

    The session's transcript is built but not shown, because the agent can announce the session as a subagent
    later. A tool call that needs permission is added to the conversation's own session instead.
    """
    if type(event) is ev.ToolCallChanged and event.asked:  # the user is asked in any case
        return tool_call_changed(root, replace(event, call_id=f"{session_id}/{event.call_id}"), at)
    foreign = root.reducer_state.foreign
    known = foreign.get(session_id)
    changes: list[Change] = []
    if known is None:
        if len(foreign) >= MAX_SUBAGENTS:
            return []
        name = escape_line(session_id)
        text = f"The agent sent updates for another session, {name}; they are not shown"
        notice = Notice(id=0, at=at, text=text, source="protocol")
        changes = add_entry(root, notice, at)
        known = ForeignSession(Session(session_id=session_id, phase="prompting"), notice)
        foreign[session_id] = known
    known.size += EVENT_SIZE + text_size(event)
    if known.size <= MAX_SIZE and not isinstance(event, (ev.SubagentChanged, ev.SessionMessageChanged)):
        reduce(known.session, event, at)
    return changes


def end_loading(root: Session) -> None:
    """Change the phase of loading subagents to idle. Called when the history has been replayed."""
    for entry in root.subagents.values():
        if entry.session.phase == "loading":
            entry.session.phase = "idle"


def end_all(root: Session, at: float, *, acp_tui_ended: bool) -> list[Change]:
    """End all running subagents, because the agent has exited or acp-tui has ended."""
    changes: list[Change] = []
    for entry in root.subagents.values():
        session = entry.session
        if session.phase != "prompting" and not entry.is_running:
            continue
        session.phase = "idle"
        entry.ended_at = at if entry.is_running else entry.ended_at
        entry.state = "ended"
        inner = [*end_message(session, at), *close_open_calls(session, "unfinished", at)]
        inner += requests.cancel_all(session, acp_tui_ended=acp_tui_ended)
        changes += lift(root, entry, inner)
    return changes


# --------------------------------------------------------------------------- subagents known by a tool call


def in_subagent(root: Session, event: ev.InSubagent, at: float) -> list[Change]:
    """Apply an event of a subagent, if the subagent is identified only by the tool call that started it.

    If the tool call is unknown, the event is applied to the conversation's own session.
    """
    inner, key = event.inner, f"call {event.call_id}"
    own = isinstance(inner, (ev.SubagentChanged, ev.SessionMessageChanged)) or (
        type(inner) is ev.ToolCallChanged and inner.call_id == event.call_id  # it names itself as its parent
    )
    entry, changes = root.subagents.get(key), []
    if entry is None and not own:
        parent = root.reducer_state.call_owners.get(event.call_id)
        where = parent.session if parent else root
        call = where.tool_calls.get(event.call_id)
        if call is not None and has_room(root, parent):
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
            changes = _add(root, parent, entry, at)
    if entry is None or own:
        return reduce(root, inner, at)
    if type(inner) is ev.ToolCallChanged:
        root.reducer_state.call_owners[inner.call_id] = entry
    return [*changes, *apply_to(root, entry, inner, at)]


def owned_call_changed(root: Session, event: ev.ToolCallChanged, at: float) -> list[Change]:
    """Update a tool call of the agent or of a subagent, even if the update does not name the subagent."""
    entry = root.reducer_state.call_owners.get(event.call_id)
    if entry is not None:
        return apply_to(root, entry, event, at)
    changes = tool_call_changed(root, event, at)
    if root.subagents and (started := root.subagents.get(f"call {event.call_id}")) is not None:
        changes.append(touch(started))  # the state of the subagent is that of the call
    return changes


def ending_calls(handler: Handler) -> Handler:
    """Return a handler that also ends the open calls of subagents whose own call the event ends."""

    def handle(root: Session, event: Any, at: float) -> list[Change]:
        changes = handler(root, event, at)
        for entry in root.subagents.values():
            if entry.call is not None and entry.call.done and entry.is_running:
                status = entry.call.status if entry.call.status == "cancelled" else "unfinished"
                changes += lift(root, entry, close_open_calls(entry.session, status, at))
                entry.ended_at = at
        return changes

    return handle


# --------------------------------------------------------------------------- messages


def message_changed(root: Session, event: ev.SessionMessageChanged, at: float) -> list[Change]:
    """Add or change a message between the agent itself and a subagent."""
    return change_message(root, None, event, at)


def change_message(
    root: Session, entry: Subagent | None, event: ev.SessionMessageChanged, at: float
) -> list[Change]:
    """Add or change a message in the transcript of the subagent `entry`; None means the main agent."""
    session = entry.session if entry is not None else root
    own_id = entry.session_id if entry is not None else root.session_id
    if entry is not None:
        size = EVENT_SIZE + sum(content_size(item) for item in event.contents or ())
        notice = add_size(entry, size, at)
        if entry.is_truncated:
            return notice
    changes = session_message(session, event, own_id, at)
    message = session.reducer_state.session_messages[event.message_id]
    peer = root.subagents.get(message.peer_id)
    message.peer = peer.name if peer is not None else ""
    return changes if entry is None else count_added(entry, changes)


# --------------------------------------------------------------------------- requests


def permission_requested(root: Session, event: ev.PermissionRequested, at: float) -> list[Change]:
    """Add a permission request to the transcript of `root`, and to that of a known subagent that asks."""
    owners = root.subagents if event.session_id else root.reducer_state.call_owners
    entry = owners.get(event.session_id or event.call_id)
    if entry is None:
        call_id = f"{event.session_id}/{event.call_id}" if event.session_id else event.call_id
        return requests.permission_requested(root, replace(event, call_id=call_id), at)
    inner = apply_to(root, entry, replace(event, session_id=""), at)
    key = f"{entry.key}/{event.call_id}"
    if (call := entry.session.tool_calls.get(event.call_id)) is not None:
        root.tool_calls[key] = call  # so that the request finds it
    asked = replace(event, call_id=key, session_id="")
    return [*inner, *requests.permission_requested(root, asked, at, subagent=entry.key)]


def elicitation_requested(root: Session, event: ev.ElicitationRequested, at: float) -> list[Change]:
    """Add a question for the user to the transcript of `root`, and to that of a known subagent that asks."""
    owners = root.subagents if event.session_id else root.reducer_state.call_owners
    entry = owners.get(event.session_id or event.call_id or "")
    if entry is None:
        return requests.elicitation_requested(root, event, at)
    inner = apply_to(root, entry, replace(event, session_id=""), at)
    return [*inner, *requests.elicitation_requested(root, event, at, subagent=entry.key)]


def about_request(handler: Handler) -> Handler:
    """Return a handler that also applies the event to the subagent whose request the event is about."""

    def handle(root: Session, event: Any, at: float) -> list[Change]:
        asked: Permission | Elicitation | None
        if isinstance(event, ev.ElicitationCompleted):
            asked = root.reducer_state.elicitations.get(event.elicitation_id)
        else:
            asked = root.permissions.get(event.request_id) or root.elicitations.get(event.request_id)
        entry = root.subagents.get(asked.subagent) if asked is not None else None
        changes = handler(root, event, at)
        return changes if entry is None else [*changes, *apply_to(root, entry, event, at)]

    return handle

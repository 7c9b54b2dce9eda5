"""Subagents that have a session of their own, whether or not the agent announced the session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.change import Change
from acp_tui.session.reduce.entries import add_entry, end_message, out_of_phase, touch
from acp_tui.session.reduce.subagents import limits
from acp_tui.session.reduce.subagents.messages import change_message
from acp_tui.session.reduce.subagents.transcripts import apply_to, count_added, lift
from acp_tui.session.reduce.tool_calls import close_open_calls, tool_call_changed
from acp_tui.session.reduce.turns import begin_work, end_turn
from acp_tui.session.state import ForeignSession, Notice, Session, Subagent
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from acp_tui.session.reduce.subagents.transcripts import Apply


def subagent_changed(root: Session, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Add or update a subagent that was started by the main agent, not by another subagent."""
    return _announce(root, None, event, at) if event.session_id else []


def elsewhere(root: Session, event: ev.Elsewhere, at: float, apply: Apply) -> list[Change]:
    """Apply an event of a subagent's session, or of a session that was not announced.

    If the event also names a parent tool call, as `InSubagent` does, the call's id is ignored: an agent
    that reports one subagent as a session reports all subagents as sessions.
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
        return lift(root, entry, change_message(root, entry, inner, at))
    return apply_to(root, entry, inner, at, apply)


def _announce(root: Session, parent: Subagent | None, event: ev.SubagentChanged, at: float) -> list[Change]:
    """Add the subagent if it is new, and apply what the agent says about the subagent.

    Ignore a new subagent if there are too many.
    """
    entry = root.subagents.get(event.session_id)
    changes: list[Change] = []
    if entry is None:
        if event.session_id == root.session_id or not limits.has_room(root, parent):
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
            changes = lift(root, parent, changes)
        count_added(entry, [Change("added", known) for known in entry.session.entries])
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
    return [*changes, *lift(root, entry, inner)]


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
    entry.size += limits.EVENT_SIZE
    if event.stop_reason is None or entry.is_truncated or not was_running:
        # While the conversation loads, history of the subagent may follow.
        session.phase = "loading" if root.phase == "loading" else "idle"
        return [*end_message(session, at), *close_open_calls(session, "unfinished", at)]
    return end_turn(session, at, None if event.error else event.stop_reason, event.error)


def _unannounced(root: Session, session_id: str, event: ev.Event, at: float, apply: Apply) -> list[Change]:
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
        if len(foreign) >= limits.MAX_SUBAGENTS:
            return []
        name = visible_line(session_id)
        text = f"The agent sent updates for another session, {name}; they are not shown"
        notice = Notice(id=0, at=at, text=text, source="protocol")
        changes = add_entry(root, notice, at)
        known = ForeignSession(Session(session_id=session_id, phase="prompting"), notice)
        foreign[session_id] = known
    known.size += limits.EVENT_SIZE + limits.text_size(event)
    if known.size <= limits.MAX_SIZE and not isinstance(
        event, (ev.SubagentChanged, ev.SessionMessageChanged)
    ):
        apply(known.session, event, at)
    return changes

"""Events and tool calls of subagents, if a subagent is identified only by the tool call that started it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.reduce.entries import add_entry, out_of_phase, touch
from acp_tui.session.reduce.subagents import limits
from acp_tui.session.reduce.subagents.transcripts import apply_to, lift
from acp_tui.session.reduce.tool_calls import tool_call_changed
from acp_tui.session.state import Session, Subagent

if TYPE_CHECKING:
    from acp_tui.session.change import Change
    from acp_tui.session.reduce.subagents.transcripts import Apply


def in_subagent(root: Session, event: ev.InSubagent, at: float, apply: Apply) -> list[Change]:
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
        if call is not None and limits.has_room(root, parent):
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
                changes = lift(root, parent, changes)
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
        changes.append(touch(started))  # the state of the subagent is that of the call
    return changes

"""Messages between the agent and its subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.messages import session_message
from acp_tui.session.reduce.subagents import limits
from acp_tui.session.reduce.subagents.transcripts import add_size, count_added

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session, Subagent


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
        size = limits.EVENT_SIZE + sum(limits.content_size(item) for item in event.contents or ())
        notice = add_size(entry, size, at)
        if entry.is_truncated:
            return notice
    changes = session_message(session, event, own_id, at)
    message = session.reducer_state.session_messages[event.message_id]
    peer = root.subagents.get(message.peer_id)
    message.peer = peer.name if peer is not None else ""
    return changes if entry is None else count_added(entry, changes)

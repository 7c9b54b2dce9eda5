"""Permission requests and questions of subagents. The transcript of a known subagent shows them, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.reduce import requests
from acp_tui.session.reduce.subagents.transcripts import apply_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.change import Change
    from acp_tui.session.reduce.subagents.transcripts import Apply
    from acp_tui.session.state import Elicitation, Permission, Session

    RequestEvent = (
        ev.Decided
        | ev.PermissionAnswered
        | ev.RequestWithdrawn
        | ev.ElicitationAnswered
        | ev.ElicitationCompleted
    )


def permission_requested(
    root: Session, event: ev.PermissionRequested, at: float, apply: Apply
) -> list[Change]:
    """Add a permission request to the transcript of `root`, and to that of a known subagent that asks."""
    owners = root.subagents if event.session_id else root.reducer_state.call_owners
    entry = owners.get(event.session_id or event.call_id)
    if entry is None:
        call_id = f"{event.session_id}/{event.call_id}" if event.session_id else event.call_id
        return requests.permission_requested(root, replace(event, call_id=call_id), at)
    inner = apply_to(root, entry, replace(event, session_id=""), at, apply)
    key = f"{entry.key}/{event.call_id}"
    if (call := entry.session.tool_calls.get(event.call_id)) is not None:
        root.tool_calls[key] = call  # so that the request finds it
    asked = replace(event, call_id=key, session_id="")
    return [*inner, *requests.permission_requested(root, asked, at, subagent=entry.key)]


def elicitation_requested(
    root: Session, event: ev.ElicitationRequested, at: float, apply: Apply
) -> list[Change]:
    """Add a question for the user to the transcript of `root`, and to that of a known subagent that asks."""
    owners = root.subagents if event.session_id else root.reducer_state.call_owners
    entry = owners.get(event.session_id or event.call_id or "")
    if entry is None:
        return requests.elicitation_requested(root, event, at)
    inner = apply_to(root, entry, replace(event, session_id=""), at, apply)
    return [*inner, *requests.elicitation_requested(root, event, at, subagent=entry.key)]


def about_request(
    handler: Callable[[Session, ev.Event, float], list[Change]],
    root: Session,
    event: RequestEvent,
    at: float,
    apply: Apply,
) -> list[Change]:
    """Apply a pending request's event to `root` and, if a subagent asked, to the subagent's session."""
    asked: Permission | Elicitation | None
    if isinstance(event, ev.ElicitationCompleted):
        asked = root.reducer_state.elicitations.get(event.elicitation_id)
    else:
        asked = root.permissions.get(event.request_id) or root.elicitations.get(event.request_id)
    entry = root.subagents.get(asked.subagent) if asked is not None else None
    changes = handler(root, event, at)
    return changes if entry is None else [*changes, *apply_to(root, entry, event, at, apply)]

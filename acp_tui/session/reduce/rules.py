"""Applies an event: its kind has a rule in a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.session import events as ev
from acp_tui.session.reduce import history

if TYPE_CHECKING:
    from acp_tui.session.record import Change
    from acp_tui.session.state import Session

    Handler = Callable[[Session, Any, float], list[Change]]


class EventRule(NamedTuple):
    """How a kind of event is applied."""

    handler: Handler
    heard: str | None = None  # what was heard from the agent, for the status line; None for other events
    in_history: bool = False  # may be part of a history that the agent replays


HANDLERS: dict[type[ev.Event], EventRule] = {}
"""The rule for each kind of event. The package fills it, because handlers of subagents use `reduce`."""


def reduce(session: Session, event: ev.Event, at: float) -> list[Change]:
    """Apply an event to the session and return the changes."""
    handler, heard, in_history = HANDLERS[type(event)]
    if heard is not None:
        session.heard_at = at
        session.heard = event.what if type(event) is ev.IgnoredMessage else heard
        session.retrying = None
    replay = session.reducer_state.replay
    if replay is not None:
        if in_history and history.is_history(session, replay, event, at):
            return history.add(session, replay, handler, event, at)
        session.replaying = False
    # `SubagentChanged` does not count: a subagent's state already says whether the subagent is running.
    works = in_history and heard is not None and type(event) is not ev.SubagentChanged
    if works and session.phase == "idle" and session.turn:
        session.background_at = at
    return handler(session, event, at)

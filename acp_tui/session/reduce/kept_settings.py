"""`Session.settings`: the values that survive a restart of the agent.

Many agents open a session again in their default mode and model and do not say so. What they report between
the opening and `SettingsRestored` is therefore not taken over: the client compares it with `settings` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import fact_changed
from acp_tui.session.settings import current_settings

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session


def update_settings(session: Session) -> None:
    """Take over the current values, unless those from before are still to be set again."""
    if not session.reducer_state.restoring:
        session.settings = current_settings(session)


def begin_restore(session: Session) -> list[Change]:
    """Hold on to the values; which ones the agent has now is unknown until it says so."""
    session.reducer_state.restoring = bool(session.settings)
    session.mode = session.model = None
    for option in session.config_options:
        option.current = None
    return [fact_changed("mode"), fact_changed("model"), fact_changed("config_options")]


def settings_restored(session: Session, event: ev.SettingsRestored, _at: float) -> list[Change]:
    """The current values count again. Those that could not be set stay wanted for the next opening."""
    wanted = {key: session.settings[key] for key in event.failed if key in session.settings}
    session.reducer_state.restoring = False
    session.settings = current_settings(session) | wanted
    return []


def end_restore(session: Session) -> None:
    """A prompt was sent. In logs without `SettingsRestored` this ends the comparison."""
    if session.reducer_state.restoring:
        session.reducer_state.restoring = False
        session.settings = current_settings(session)

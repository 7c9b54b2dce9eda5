"""`Session.settings`, the values that are kept across a restart of the agent.

Many agents reopen a session in their default mode and model without reporting it. So the values that they
report between the opening and `SettingsRestored` are not stored; the controller compares them with `settings`
and sets the earlier ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.offered_options import current_settings
from acp_tui.session.reduce.entries import fact_changed

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session


def update_settings(session: Session) -> None:
    """Store the current values, unless earlier ones are being restored."""
    if not session.reducer_state.restoring:
        session.settings = current_settings(session)


def begin_restore(session: Session) -> list[Change]:
    """Keep the stored values, and clear the current ones until the agent reports them."""
    session.reducer_state.restoring = bool(session.settings)
    session.mode = session.model = None
    for option in session.config_options:
        option.current = None
    return [fact_changed("mode"), fact_changed("model"), fact_changed("config_options")]


def settings_restored(session: Session, event: ev.SettingsRestored, _at: float) -> list[Change]:
    """Store the current values, but keep the earlier values of settings that could not be restored."""
    wanted = {key: session.settings[key] for key in event.failed if key in session.settings}
    session.reducer_state.restoring = False
    session.settings = current_settings(session) | wanted
    return []


def end_restore(session: Session) -> None:
    """End the restoring of settings when a prompt is sent, because older logs have no `SettingsRestored`."""
    if session.reducer_state.restoring:
        session.reducer_state.restoring = False
        session.settings = current_settings(session)

"""`Session.settings`: the values of settings, such as mode and model, to keep when the agent restarts.

Many agents reopen a session with their default mode and model instead of the session's. So values that an
agent reports between the opening and `SettingsRestored` do not replace stored values. The controller compares
the reported values with `settings` and sets the stored values again.
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
    """Store the current values of all settings, unless stored values are being restored."""
    if not session.reducer_state.restoring:
        session.settings = current_settings(session)


def begin_restore(session: Session) -> list[Change]:
    """Start to restore settings: keep the stored values, and clear the current ones.

    The agent reports the current values when it has opened the session.
    """
    session.reducer_state.restoring = bool(session.settings)
    session.mode = session.model = None
    for option in session.config_options:
        option.current = None
    return [fact_changed("mode"), fact_changed("model"), fact_changed("config_options")]


def settings_restored(session: Session, event: ev.SettingsRestored, _at: float) -> list[Change]:
    """Store the current value of each setting, except for settings that could not be restored."""
    wanted = {key: session.settings[key] for key in event.failed if key in session.settings}
    session.reducer_state.restoring = False
    session.settings = current_settings(session) | wanted
    return []


def end_restore(session: Session) -> None:
    """Stop restoring settings. Called when a prompt is sent: older logs have no `SettingsRestored` event."""
    if session.reducer_state.restoring:
        session.reducer_state.restoring = False
        session.settings = current_settings(session)

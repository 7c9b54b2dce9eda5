"""What the user can choose of an agent: one list for all options, then one for a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Choice, ConfigOption

if TYPE_CHECKING:
    from textual.app import App

    from acp_tui.session.state import Session
    from acp_tui.ui.palette import Palette

MODE, MODEL = "mode", "model"
"""The names of what some agents offer apart from their options."""


def options_of(session: Session) -> list[ConfigOption]:
    """All that can be chosen, in one form."""
    found = [option for option in session.config_options if option.kind in ("select", "boolean")]
    if session.modes and session.mode_option is None:
        modes = [Choice(mode.id, mode.name, mode.description) for mode in session.modes]
        found.insert(0, ConfigOption(MODE, "Mode", "select", session.mode, choices=modes))
    if session.models:
        found.append(ConfigOption(MODEL, "Model", "select", session.model, choices=session.models))
    return found


async def chosen_option(
    app: App[int], session: Session, palette: Palette, wanted: str | None = None
) -> tuple[str, str | bool] | None:
    """Let the user choose; None: everything stays. `wanted` is a category to begin with, such as `mode`."""
    from acp_tui.ui.screens.choose import ChooseScreen

    options = options_of(session)
    if not options:
        app.notify("This agent offers nothing to choose.", timeout=3)
        return None
    option = next((one for one in options if wanted in (one.category, one.id)), None) if wanted else None
    if option is None:
        rows = [Choice(one.id, f"{one.name}: {current_name(one)}", one.description) for one in options]
        taken = await app.push_screen_wait(ChooseScreen("Options of the agent", rows, palette))
        option = next((one for one in options if one.id == taken), None)
        if option is None:
            return None
    if option.kind == "boolean":
        return option.id, not option.current
    current = str(option.current) if option.current is not None else None
    value = await app.push_screen_wait(ChooseScreen(option.name, option.choices, palette, current=current))
    return (option.id, value) if value is not None else None


def current_name(option: ConfigOption) -> str:
    """What it is set to, in the agent's words."""
    if option.kind == "boolean":
        return "on" if option.current else "off"
    return next((choice.name for choice in option.choices if choice.value == option.current), "–")

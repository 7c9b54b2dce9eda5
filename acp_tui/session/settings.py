"""A uniform view of the settings an agent offers: mode, model and config options, with their values."""

from __future__ import annotations

from acp_tui.session.state import Choice, ConfigOption, Session, Setting
from acp_tui.session.text import visible_line

MODE, MODEL = "mode", "model"
"""The setting keys of the mode and the model; also their option ids if they are not config options."""


def offered_settings(session: Session) -> list[ConfigOption]:
    """Return all settings that can be changed, including modes and models as select options."""
    found = [option for option in session.config_options if option.kind in ("select", "boolean")]
    if session.modes and session.mode_option is None:
        modes = [Choice(mode.id, mode.name, mode.description) for mode in session.modes]
        found.insert(0, ConfigOption(MODE, "Mode", "select", session.mode, category=MODE, choices=modes))
    if session.models:
        found.append(
            ConfigOption(MODEL, "Model", "select", session.model, category=MODEL, choices=session.models)
        )
    return found


def setting_key(option: ConfigOption) -> str:
    """Return the key of a setting: `mode` for the mode, `model` for the model, otherwise `option:ID`."""
    return option.category if option.category in (MODE, MODEL) else f"option:{option.id}"


def current_settings(session: Session) -> dict[str, Setting]:
    """Return the current value of each setting, by key. Settings with an unknown value are left out."""
    return {
        setting_key(option): Setting(option.name, option.current, value_name(option))
        for option in offered_settings(session)
        if option.current is not None
    }


def value_name(option: ConfigOption) -> str:
    """Return the name of an option's current value, safe to display; a dash if the value is unknown."""
    if option.current is None:
        return "–"
    if isinstance(option.current, bool):
        return "on" if option.current else "off"
    names = (choice.name for choice in option.choices if choice.value == option.current)
    return next(names, visible_line(option.current))

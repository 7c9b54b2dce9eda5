"""A uniform view of the settings an agent offers: mode, model and config options, with their values."""

from __future__ import annotations

from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Choice, ConfigOption, Session, Setting

MODE, MODEL = "mode", "model"
"""The setting keys of the mode and the model.

They are also the option ids of a mode or model that the agent does not offer as a config option.
"""
SETTING_ORDER = {MODEL: 0, MODE: 2}
"""The order in which settings are restored or set to their defaults. Other settings have the order 1.

The model comes first because it determines the other options. The mode comes last because setting another
option may change the mode.
"""
CATEGORY_TITLES = {
    MODE: "Mode",
    MODEL: "Model",
    "model_config": "Model settings",
    "thought_level": "Thinking",
}
"""The titles of the categories in the protocol."""


def offered_options(session: Session) -> list[ConfigOption]:
    """Return all settings that can be changed, with the mode and the model as options of kind `select`."""
    found = [option for option in session.config_options if option.kind in ("select", "boolean")]
    if session.modes and session.mode_option is None:
        modes = [Choice(mode.id, mode.name, mode.description) for mode in session.modes]
        found.insert(0, ConfigOption(MODE, "Mode", "select", session.mode, category=MODE, choices=modes))
    if session.models:
        found.append(
            ConfigOption(MODEL, "Model", "select", session.model, category=MODEL, choices=session.models)
        )
    return found


def options_by_category(session: Session) -> list[tuple[str, list[ConfigOption]]]:
    """Return the settings that can be changed, grouped by category title, in the agent's order."""
    groups: dict[str, list[ConfigOption]] = {}
    for option in offered_options(session):
        groups.setdefault(category_title(option.category), []).append(option)
    return list(groups.items())


def category_title(category: str | None) -> str:
    """Return the title of a category. Agents also use categories that are not in the protocol."""
    words = " ".join(escape_line(category or "other").replace("_", " ").split()) or "other"
    return CATEGORY_TITLES.get(category or "", words[0].upper() + words[1:])


def options_by_key(session: Session) -> dict[str, ConfigOption]:
    """Return all settings that can be changed, by key: `mode`, `model`, or `option:ID` for other options.

    Of several options of the category `mode` or `model`, only the one whose id is the category has the
    category as its key, or else the first.
    """
    found: dict[str, ConfigOption] = {}
    offered = offered_options(session)
    named = {option.id for option in offered if option.id == option.category}
    for option in offered:
        category = option.category
        is_main = category in (MODE, MODEL) and category not in found
        is_main = is_main and (option.id == category or category not in named)
        found[category if is_main and category else f"option:{option.id}"] = option
    return found


def current_settings(session: Session) -> dict[str, Setting]:
    """Return the current value of each setting, by key. Settings with an unknown value are left out."""
    return {
        key: Setting(option.name, option.current, value_name(option))
        for key, option in options_by_key(session).items()
        if option.current is not None
    }


def value_name(option: ConfigOption) -> str:
    """Return the name of an option's current value, safe to display; a dash if the value is unknown."""
    if option.current is None:
        return "–"
    if isinstance(option.current, bool):
        return "on" if option.current else "off"
    names = (choice.name for choice in option.choices if choice.value == option.current)
    return next(names, escape_line(option.current))

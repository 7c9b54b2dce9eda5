"""The commands of the palette: actions of the key table, themes, agent options and policies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.config.policies import POLICY_SUMMARIES
from acp_tui.session.settings import offered_settings, value_name
from acp_tui.ui.keys import KEYS, SCOPES, TABLE, Key
from acp_tui.ui.keys.command_titles import COMMAND_TITLES
from acp_tui.ui.keys.palette_command import PaletteCommand
from acp_tui.ui.theme import themes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from textual.screen import Screen

    from acp_tui.config.policies import Policy
    from acp_tui.session.state import ConfigOption, Session


def key_commands(screen: Screen[Any], keymap: Mapping[str, str]) -> list[PaletteCommand]:
    """Return a command for each active key binding that has a palette title, the most useful ones first."""
    nodes = {active.binding.id: active.node for active in screen.active_bindings.values() if active.enabled}
    for transcript in screen.query("Transcript"):  # its keys act on the current entry, focused or not
        for key in TABLE:
            if key.where == "transcript":
                nodes.setdefault(key.id, transcript)
    return [
        PaletteCommand(
            title,
            partial(screen.app.run_action, KEYS[name].action, nodes[name]),
            SCOPES[KEYS[name].where].title,
            KEYS[name].key_names(keymap),
            KEYS[name].label,
        )
        for name, title in COMMAND_TITLES.items()
        if name in nodes
    ]


def title_of(key: Key) -> str:
    """Return what this key does, where its help text describes several keys."""
    return SINGLE_KEY_TITLES.get(key.id) or key.help


def theme_commands(
    current: str, *, choose: Callable[[str], None], preview: Callable[[str], None]
) -> list[PaletteCommand]:
    """Return a command for each theme."""
    return [
        PaletteCommand(
            f"Theme: {name}",
            partial(choose, name),
            "Program",
            preview=partial(preview, name),
            current=name == current,
            is_value=True,
        )
        for name in themes.available_themes()
    ]


# --------------------------------------------------------------------------- the agent


def option_commands(session: Session, choose: Callable[[str, str | bool], None]) -> Iterable[PaletteCommand]:
    """Return a command for each value of each agent option, including modes and models."""
    for option in offered_settings(session):
        yield from _values(option, choose)


def _values(option: ConfigOption, choose: Callable[[str, str | bool], None]) -> Iterator[PaletteCommand]:
    if option.kind == "boolean":
        title = f"{option.name}: {'off' if option.current else 'on'}"
        run = partial(choose, option.id, not option.current)
        yield PaletteCommand(title, run, f"now {value_name(option)}", is_value=True)
        return
    for choice in option.choices:
        title = f"{option.name}: {choice.name or choice.value}"
        current = choice.value == option.current
        run = partial(choose, option.id, choice.value)
        yield PaletteCommand(title, run, "Agent", current=current, is_value=True)


def policy_commands(current: str, choose: Callable[[Policy], None]) -> Iterator[PaletteCommand]:
    """Return one command for each permission policy."""
    for name in POLICY_SUMMARIES:
        title, run = f"Policy: {name}", partial(choose, name)
        yield PaletteCommand(title, run, "Permissions", current=name == current, is_value=True)


# --------------------------------------------------------------------------- names

SINGLE_KEY_TITLES: Mapping[str, str] = {
    "pane.before": "Previous pane",
    "pane.after": "Next pane",
    "pane.1": "Go to the plan",
    "pane.2": "Go to the files",
    "pane.3": "Go to the terminals",
    "pane.4": "Go to the session",
    "pane.up": "Previous",
    "pane.down": "Next",
    "pane.page_up": "Scroll a page up",
    "pane.page_down": "Scroll a page down",
    "pane.home": "Top",
    "pane.end": "Bottom",
    **{f"permission.{digit}": f"Choose option {digit}" for digit in range(1, 10)},
    "menu.open": "Open the menu of agent commands",
    "transcript.fold_kind": "Fold or unfold all entries of this kind",
    "transcript.fold_all": "Fold or unfold all entries",
    "transcript.up": "Scroll up",
    "transcript.down": "Scroll down",
    "transcript.home": "Top",
    "transcript.end": "Bottom",
    "transcript.prompt_before": "Previous prompt",
    "transcript.prompt_after": "Next prompt",
    "transcript.tool_before": "Previous tool call",
    "transcript.tool_after": "Next tool call",
    "transcript.error": "Next error",
    "transcript.find_next": "Next match",
    "transcript.find_previous": "Previous match",
    "permission.up": "Previous option",
    "permission.down": "Next option",
    "permission.page_up": "Scroll the request up",
    "permission.page_down": "Scroll the request down",
    "choose.up": "Previous",
    "choose.down": "Next",
    "choose.page_up": "Page up",
    "choose.page_down": "Page down",
    "detail.up": "Scroll up",
    "detail.down": "Scroll down",
    "detail.page_up": "Scroll a page up",
    "detail.page_down": "Scroll a page down",
    "detail.home": "Top",
    "detail.end": "Bottom",
    "conversation.find_next": "Next match",
    "conversation.find_previous": "Previous match",
    "entry.before": "Previous entry",
    "entry.after": "Next entry",
    "conversation.page_up": "Scroll the conversation up",
    "conversation.page_down": "Scroll the conversation down",
    "conversation.home": "Top of the conversation",
    "conversation.end": "Bottom of the conversation",
    "conversation.tab": "Focus the next part of the screen",
    "edit.left": "Previous character",
    "edit.right": "Next character",
    "edit.word_left": "Previous word",
    "edit.word_right": "Next word",
    "edit.home": "Start of line",
    "edit.end": "End of line",
    "select.left": "Select left",
    "select.right": "Select right",
    "select.up": "Select up",
    "select.down": "Select down",
    "select.home": "Select to start of line",
    "select.end": "Select to end of line",
    "select.word_left": "Select previous word",
    "select.word_right": "Select next word",
    "edit.backspace": "Delete previous character",
    "edit.delete": "Delete next character",
    "edit.delete_word_left": "Delete previous word",
    "edit.delete_word_right": "Delete next word",
    "edit.delete_to_start": "Delete to start of line",
    "edit.delete_to_end": "Delete to end of line",
    "edit.cut": "Cut",
    "edit.copy": "Copy the selection in the prompt",
    "edit.paste": "Paste",
}
"""Titles of keys that share one help text, by key id."""

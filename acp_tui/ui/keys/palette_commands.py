"""What can be done now, by name: the list of commands shows it, with the keys that do the same.

Most commands are keys of the one table. A screen adds what has none (`BaseScreen.commands`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from acp_tui.config.policies import SUMMARIES
from acp_tui.session.settings import offered_settings, value_name
from acp_tui.ui.keys import KEYS, SCOPES, Key
from acp_tui.ui.keys.command_titles import COMMAND_TITLES
from acp_tui.ui.theme import themes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from textual.screen import Screen

    from acp_tui.config.policies import Policy
    from acp_tui.session.state import ConfigOption, Session
    from acp_tui.ui.app import AcpTui


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """One line of the list. Its texts are shown as they are, so an agent's need not be trusted."""

    title: str
    run: Callable[[], Any]  # may give an awaitable
    group: str = ""  # which part of the program it belongs to
    keys: str = ""
    word: str = ""  # … in the footer
    preview: Callable[[], None] | None = None  # what it would look like
    current: bool = False  # it is so already
    is_value: bool = False  # one value among several: listed after the commands


def commands_of(screen: Screen[Any], keymap: Mapping[str, str]) -> list[PaletteCommand]:
    """Everything that the screen, what has the focus on it, and the program can do; the most useful first."""
    from acp_tui.ui.screens.base import BaseScreen

    more = list(screen.commands()) if isinstance(screen, BaseScreen) else []
    by_key = _by_key(screen, keymap)
    tasks, values = [one for one in more if not one.is_value], [one for one in more if one.is_value]
    app = cast("AcpTui", screen.app)
    return [*tasks, *_of_the_app(app), *by_key, *values, *theme_commands(app)]


# --------------------------------------------------------------------------- keys


def _by_key(screen: Screen[Any], keymap: Mapping[str, str]) -> list[PaletteCommand]:
    """The keys that act now and have a title of their own."""
    nodes = {active.binding.id: active.node for active in screen.active_bindings.values() if active.enabled}
    for widget in screen.query("Transcript"):  # its keys act on the entry of its cursor, focused or not
        for _, binding in widget._bindings:
            nodes.setdefault(binding.id, widget)
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
    """What one key alone does."""
    return SINGLE_KEY_TITLES.get(key.id) or key.help


# --------------------------------------------------------------------------- the program


def _of_the_app(app: AcpTui) -> Iterator[PaletteCommand]:
    if app.has_launcher:
        yield PaletteCommand("Switch agent or session", app.action_launcher, "Program", word="other launcher")
    yield PaletteCommand("Change theme", app.action_theme, "Program")


def theme_commands(app: AcpTui) -> list[PaletteCommand]:
    """One for each theme. The previewed one is kept when it is taken."""
    return [
        PaletteCommand(
            f"Theme: {name}",
            partial(_use_theme, app, name),
            "Program",
            preview=partial(app.use_theme, name, trying=True),
            current=app.theme_name == name,
            is_value=True,
        )
        for name in themes.available()
    ]


def _use_theme(app: AcpTui, name: str) -> None:
    from acp_tui.config.paths import config_file

    app.use_theme(name)
    app.notify(f'To keep it: theme = "{name}" in {config_file()}', markup=False)


# --------------------------------------------------------------------------- the agent


def option_commands(session: Session, choose: Callable[[str, str | bool], None]) -> Iterable[PaletteCommand]:
    """Every value of every option, modes and models among them, without a way through menus."""
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
    """One for each policy."""
    for name in SUMMARIES:
        title, run = f"Policy: {name}", partial(choose, name)
        yield PaletteCommand(title, run, "Permissions", current=name == current, is_value=True)


# --------------------------------------------------------------------------- names

SINGLE_KEY_TITLES: Mapping[str, str] = {
    "pane.before": "Go to the pane before",
    "pane.after": "Go to the next pane",
    "pane.1": "Go to the plan",
    "pane.2": "Go to the files",
    "pane.3": "Go to the terminals",
    "pane.4": "Go to the session",
    "pane.up": "Go up",
    "pane.down": "Go down",
    "pane.page_up": "Scroll a page up",
    "pane.page_down": "Scroll a page down",
    "pane.home": "Go to the beginning",
    "pane.end": "Go to the end",
    **{f"permission.{digit}": f"Take option {digit}" for digit in range(1, 10)},
    "menu.open": "Choose one of the agent's commands",
    "transcript.fold_kind": "Fold or unfold all of the entry's kind",
    "transcript.fold_all": "Fold or unfold everything",
    "transcript.up": "Scroll up",
    "transcript.down": "Scroll down",
    "transcript.home": "Go to the beginning",
    "transcript.end": "Go to the end",
    "transcript.prompt_before": "Go to the prompt before",
    "transcript.prompt_after": "Go to the prompt after",
    "transcript.tool_before": "Go to the tool call before",
    "transcript.tool_after": "Go to the tool call after",
    "transcript.error": "Go to the next error",
    "transcript.find_next": "Go to the next hit",
    "transcript.find_previous": "Go to the hit before",
    "permission.up": "Choose the option above",
    "permission.down": "Choose the option below",
    "permission.page_up": "Scroll what is asked up",
    "permission.page_down": "Scroll what is asked down",
    "choose.up": "Go up",
    "choose.down": "Go down",
    "choose.page_up": "Go further up",
    "choose.page_down": "Go further down",
    "detail.up": "Scroll up",
    "detail.down": "Scroll down",
    "detail.page_up": "Scroll a page up",
    "detail.page_down": "Scroll a page down",
    "detail.home": "Go to the beginning",
    "detail.end": "Go to the end",
    "conversation.find_next": "Go to the next hit of the search",
    "conversation.find_previous": "Go to the hit of the search before",
    "entry.before": "Go to the entry before",
    "entry.after": "Go to the entry after",
    "conversation.page_up": "Scroll the conversation up",
    "conversation.page_down": "Scroll the conversation down",
    "conversation.home": "Go to the beginning of the conversation",
    "conversation.end": "Go to the end of the conversation",
    "conversation.tab": "Go to the next part of the screen",
    "edit.left": "A character back",
    "edit.right": "A character forward",
    "edit.word_left": "A word back",
    "edit.word_right": "A word forward",
    "edit.home": "To the line's beginning",
    "edit.end": "To the line's end",
    "select.left": "Select to the left",
    "select.right": "Select to the right",
    "select.up": "Select upwards",
    "select.down": "Select downwards",
    "select.home": "Select to the line's beginning",
    "select.end": "Select to the line's end",
    "select.word_left": "Select the word before",
    "select.word_right": "Select the word after",
    "edit.backspace": "Delete the character before",
    "edit.delete": "Delete the character after",
    "edit.delete_word_left": "Delete the word before",
    "edit.delete_word_right": "Delete the word after",
    "edit.delete_to_start": "Delete to the line's beginning",
    "edit.delete_to_end": "Delete to the line's end",
    "edit.cut": "Cut",
    "edit.copy": "Copy what is selected in the prompt",
    "edit.paste": "Paste",
}
"""Of keys that share their help with others: what each of them does alone."""

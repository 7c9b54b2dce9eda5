"""Commands of the palette, and the families of commands from policies, themes and options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.config.early_settings import AUTO_THEME
from acp_tui.config.validators import POLICY_SUMMARIES, Policy
from acp_tui.session.offered_options import offered_options, value_name
from acp_tui.ui.keys import KEYS, SCOPES, TABLE, Key
from acp_tui.ui.theme import themes

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.session.state import ConfigOption, Session


FIRST_COMMANDS = (
    *("tab.new", "turn.stop", "turn.again", "session.policy", "session.rules", "session.options"),
    *("session.usage", "mode.next", "session.review", "session.mcp", "panes.toggle", "conversation.find"),
    *("session.export", "session.continue", "agent.restart", "session.own_tools", "prompt.send_now"),
    *("prompt.history", "prompt.editor", "menu.open", "prompt.attach_output", "prompt.unfold"),
    *("prompt.newline", "app.sessions", "transcript.copy_answer", "transcript.copy_code"),
)
"""Ids of the keys whose commands come first in the palette. The others follow in the order of the table."""


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """One line of the command palette. Texts are drawn without markup, because some come from agents."""

    title: str
    run: Callable[[], Any]  # may return an awaitable
    group: str = ""  # the part of the program that the command belongs to
    keys: str = ""
    word: str = ""  # search word and footer label
    preview: Callable[[], None] | None = None  # shows the effect while the line is selected
    current: bool = False  # whether this is the option's current value
    is_value: bool = False  # sets one value of an option; listed after the commands


def key_commands(screen: Screen[Any], keymap: Mapping[str, str]) -> list[PaletteCommand]:
    """Return commands for the active key bindings and all keys of the transcript, most useful first."""
    nodes = {active.binding.id: active.node for active in screen.active_bindings.values() if active.enabled}
    for transcript in screen.query("Transcript"):  # without focus, too: its keys act on its current entry
        for key in SCOPES["transcript"].keys:
            nodes.setdefault(key.id, transcript)
    return [
        PaletteCommand(
            key.command,
            partial(screen.app.run_action, key.action, nodes[key.id]),
            SCOPES[key.scope].title,
            key.key_names(keymap),
            key.label,
        )
        for key in keys_with_commands()
        if key.id in nodes and _is_of_use(screen, key.id)
    ]


def keys_with_commands() -> list[Key]:
    """Return the keys that have a command in the palette, in the order of the palette."""
    first = [KEYS[name] for name in FIRST_COMMANDS]
    return [*first, *(key for key in TABLE if key.command and key.id not in FIRST_COMMANDS)]


def _is_of_use(screen: Screen[Any], name: str) -> bool:
    """Return False for "Stop the turn" while the key only closes something, or goes back to the prompt."""
    label_of: Callable[[str], str | None] | None = getattr(screen, "label_of", None)
    return name != "turn.stop" or label_of is None or label_of(name) == "stop"


def theme_commands(
    current: str, *, choose: Callable[[str], None], preview: Callable[[str], None]
) -> list[PaletteCommand]:
    """Return a command for each theme, and one for `auto`."""
    return [
        PaletteCommand(
            f"Theme: {name}{' (dark or light, like the terminal)' if name == AUTO_THEME else ''}",
            partial(choose, name),
            "Program",
            preview=partial(preview, name),
            current=name == current,
            is_value=True,
        )
        for name in (AUTO_THEME, *themes.available_themes())
    ]


# --------------------------------------------------------------------------- the agent


def option_commands(session: Session, choose: Callable[[str, str | bool], None]) -> Iterable[PaletteCommand]:
    """Return a command for each value of each agent option, including modes and models.

    An option that is on or off has one command, which switches to the other value.
    """
    for option in offered_options(session):
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

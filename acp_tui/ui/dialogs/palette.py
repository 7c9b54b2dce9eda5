"""The command palette: typing filters the commands, Enter runs one. Themes are previewed while selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.config.paths import config_file
from acp_tui.session.state import Choice
from acp_tui.ui.dialogs.base_screen import BaseScreen, app_of
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys.commands import PaletteCommand, key_commands, theme_commands
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, best_matches

if TYPE_CHECKING:
    from textual.app import App


MAX_TITLE_WIDTH = 40
"""The maximum width of the titles of commands. The column after them has the groups."""


class PaletteScreen(ChooseScreen):
    """Lists commands with their keys, and runs the chosen command."""

    WIDTH = 92

    def __init__(
        self,
        title: str,
        commands: Sequence[PaletteCommand],
        *,
        end_preview: Callable[[], None],
    ) -> None:
        """`end_preview` reverts the `preview` of a command."""
        choices = [Choice(str(n), command.title) for n, command in enumerate(commands)]
        current = next(
            (str(n) for n, command in enumerate(commands) if command.current and command.preview), None
        )
        # In a list of commands, the first one is selected; in a list of values, the current one.
        only_values = all(command.preview is not None for command in commands)
        super().__init__(title, choices, current=current if only_values else None)
        self._commands = commands
        widest = max((cell_len(command.title) for command in commands), default=0)
        self._title_width = min(widest, MAX_TITLE_WIDTH)
        self._end_preview = end_preview

    def on_mount(self) -> None:
        """Preview each command that is selected from now on."""
        self.watch(self.query_one(SelectList), "selected", self._preview, init=False)

    def _row(self, choice: Choice) -> SelectRow:
        palette = current_palette()
        command = self._commands[int(choice.value)]
        mark = "● " if command.current else "  "
        title = shorten(command.title, self._title_width)
        gap = " " * (self._title_width + 2 - cell_len(title))
        text = [Segment(title, palette.text), Segment(gap + command.group, palette.faint)]
        keys = [Segment(command.keys, palette.key)]
        return SelectRow([Segment(mark, palette.success)], text, tail=keys, cut=True)

    def _matches(self, query: str) -> list[Choice]:
        """Return the commands whose title, search words, keys or group match `query`, best match first."""

        def fields(choice: Choice) -> list[str]:
            command = self._commands[int(choice.value)]
            return [command.title, command.word, command.keys, command.group]

        return best_matches(query, self._choices, fields)

    def on_filtered(self) -> None:
        """Preview the command that is selected now."""
        self._preview()

    def _preview(self) -> None:
        selected = self.query_one(SelectList).selected
        command = self._commands[int(self._shown[selected].value)] if self._shown and selected >= 0 else None
        if command is not None and command.preview is not None:
            command.preview()
        else:
            self._end_preview()

    def choose(self, value: str | None) -> None:
        """Close the list, then run the chosen command. None means that the user cancelled."""
        self._end_preview()
        self.dismiss(value)
        if value is not None:
            self.app.call_later(_run, self._commands[int(value)])


async def _run(command: PaletteCommand) -> None:
    result = command.run()
    if isawaitable(result):
        await result


async def open_commands(app: App[Any]) -> None:
    """Open the palette with all commands that are available on the current screen."""
    screen = app.screen
    of_screen = list(screen.commands()) if isinstance(screen, BaseScreen) else []
    tasks = [command for command in of_screen if not command.is_value]
    values = [command for command in of_screen if command.is_value]
    change_theme = PaletteCommand("Change theme", partial(open_themes, app), "Program")
    redraw = PaletteCommand("Redraw the screen", app_of(app).redraw, "Program")
    by_key = key_commands(screen, app_of(app).keymap)
    await _open(app, "Commands", [*tasks, change_theme, *by_key, redraw, *values, *_theme_commands(app)])


async def open_themes(app: App[Any]) -> None:
    """Let the user choose a theme. The highlighted theme is applied as a preview."""
    await _open(app, "Theme", _theme_commands(app))


async def _open(app: App[Any], title: str, commands: list[PaletteCommand]) -> None:
    interface = app_of(app)
    restore_theme = partial(_restore_theme, app, interface.theme_name)
    await app.push_screen(PaletteScreen(title, commands, end_preview=restore_theme))


def _theme_commands(app: App[Any]) -> list[PaletteCommand]:
    interface = app_of(app)
    preview = partial(interface.use_theme, preview=True)
    return theme_commands(interface.theme_name, choose=partial(_choose_theme, app), preview=preview)


def _choose_theme(app: App[Any], name: str) -> None:
    app_of(app).use_theme(name)
    app.notify(f'To keep this theme, set theme = "{name}" in {config_file()}', markup=False)


def _restore_theme(app: App[Any], name: str) -> None:
    if app_of(app).theme_name != name:
        app_of(app).use_theme(name, preview=True)

"""The command palette: typing filters the commands, Enter runs one. Themes are previewed while selected."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.session.state import Choice
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.screens.dialogs.choose import ChooseScreen
from acp_tui.ui.widgets.select_list import Row, SelectList
from acp_tui.ui.widgets.word_match import best_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.ui.keys.palette_command import PaletteCommand
    from acp_tui.ui.theme.palette import Palette


MAX_TITLE_WIDTH = 40
"""The maximum width of the titles of commands. The column after them has the groups."""


class PaletteScreen(ChooseScreen):
    """Lists commands with their keys, and runs the chosen command."""

    DEFAULT_CLASSES = "wide"

    def __init__(
        self,
        title: str,
        commands: Sequence[PaletteCommand],
        palette: Palette,
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
        super().__init__(title, choices, palette, current=current if only_values else None)
        self._commands = commands
        widest = max((cell_len(command.title) for command in commands), default=0)
        self._title_width = min(widest, MAX_TITLE_WIDTH)
        self._end_preview = end_preview

    def on_mount(self) -> None:
        """Preview each command that is selected from now on."""
        super().on_mount()
        self.watch(self.query_one(SelectList), "selected", self._preview, init=False)

    def _row(self, choice: Choice) -> Row:
        command = self._commands[int(choice.value)]
        mark = "● " if command.current else "  "
        title = shorten(command.title, self._title_width)
        gap = " " * (self._title_width + 2 - cell_len(title))
        text = [Segment(title, self._palette.text), Segment(gap + command.group, self._palette.faint)]
        keys = [Segment(command.keys, self._palette.key)]
        return Row([Segment(mark, self._palette.success)], text, tail=keys, cut=True)

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

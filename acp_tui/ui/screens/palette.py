"""The list of commands: typing narrows it, Enter does it. Themes are shown while the cursor is on them."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, cast

from rich.segment import Segment

from acp_tui.session.state import Choice
from acp_tui.ui.screens.choose import ChooseScreen
from acp_tui.ui.widgets.select_list import Row, SelectList
from acp_tui.ui.widgets.word_match import best_matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.keys.palette_commands import PaletteCommand
    from acp_tui.ui.theme.palette import Palette


class PaletteScreen(ChooseScreen):
    """Commands with their keys. What one of them showed as a preview is undone unless it is taken."""

    DEFAULT_CLASSES = "wide"

    def __init__(self, title: str, commands: Sequence[PaletteCommand], palette: Palette) -> None:
        choices = [Choice(str(n), one.title, group=one.group) for n, one in enumerate(commands)]
        current = next((str(n) for n, one in enumerate(commands) if one.current and one.preview), None)
        # Among all commands the first is the best to begin with; among values, the one that is in force.
        only_values = all(one.preview is not None for one in commands)
        super().__init__(title, choices, palette, current=current if only_values else None)
        self._commands = commands
        self._theme_before = ""

    def on_mount(self) -> None:
        """From now on the cursor shows what there is to see."""
        super().on_mount()
        self._theme_before = self._tui.theme_name
        self.watch(self.query_one(SelectList), "selected", self._preview, init=False)

    @property
    def _tui(self) -> AcpTui:
        return cast("AcpTui", self.app)

    def _row(self, choice: Choice) -> Row:
        command = self._commands[int(choice.value)]
        mark = "● " if command.current else "  "
        text = [
            Segment(command.title, self._palette.text),
            Segment(f"  {command.group}", self._palette.faint),
        ]
        keys = [Segment(command.keys, self._palette.key)]
        return Row([Segment(mark, self._palette.success)], text, tail=keys, cut=True)

    def _fitting(self, query: str) -> list[Choice]:
        """By its title, by the word that the footer has for it, by its key, by its group."""

        def fields(choice: Choice) -> list[str]:
            command = self._commands[int(choice.value)]
            return [command.title, command.word, command.keys, command.group]

        return best_matches(query, self._choices, fields)

    def narrowed(self) -> None:
        """Another row may be under the cursor."""
        self._preview()

    def _preview(self) -> None:
        at = self.query_one(SelectList).selected
        command = self._commands[int(self._shown[at].value)] if self._shown and at >= 0 else None
        if command is not None and command.preview is not None:
            command.preview()
        else:
            self._undo()

    def _undo(self) -> None:
        if self._tui.theme_name != self._theme_before:
            self._tui.use_theme(self._theme_before, trying=True)

    def taken(self, value: str | None) -> None:
        """Do it, once the list is gone."""
        self._undo()
        self.dismiss(value)
        if value is not None:
            self.app.call_later(_done, self._commands[int(value)])


async def _done(command: PaletteCommand) -> None:
    result = command.run()
    if isawaitable(result):
        await result

"""The Textual app: the theme, the keys, and the screen it begins with."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import App

from acp_tui.ui import keys
from acp_tui.ui.theming import DEFAULT, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.palette import Palette
    from acp_tui.ui.screens.session import SessionScreen


class AcpTui(App[int]):
    """One run of acp-tui on a terminal."""

    TITLE = "acp-tui"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = keys.bindings("app")
    CSS = """
    Screen { background: $background; }
    """

    def __init__(self, first: Callable[[Palette], SessionScreen], *, theme: str = DEFAULT) -> None:
        super().__init__(ansi_color=False)
        self.failure: Exception | None = None
        """What ended the app, where that was not the user's wish."""
        self._first = first
        self._bottom: SessionScreen | None = None
        self._palettes: dict[str, Palette] = {}
        self.use_theme(theme)

    def use_theme(self, name: str) -> None:
        """Change all colours; a theme is read when it is first used."""
        loaded = load(name)
        self._palettes[loaded.theme.name] = loaded.palette
        self.register_theme(loaded.theme)
        self.theme = loaded.theme.name
        for problem in loaded.problems:
            self.call_later(self.notify, problem, severity="warning", markup=False)

    @property
    def palette(self) -> Palette:
        """The colours in force."""
        return self._palettes[self.theme]

    def get_default_screen(self) -> SessionScreen:
        """The first screen is the one at the bottom: a blank one below it would only cost time."""
        self._bottom = self._first(self.palette)
        return self._bottom

    # ------------------------------------------------------------------------- the clipboard

    def copy_to_clipboard(self, text: str) -> None:
        """Copy, and say what became of it."""
        self._clipboard = text  # what Ctrl+V pastes, whatever the terminal does
        self.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        from acp_tui.ui.clipboard import copied
        from acp_tui.ui.passing import to_terminal

        self.notify(await copied(text, partial(to_terminal, self), os.environ), timeout=3, markup=False)

    # ------------------------------------------------------------------------- the end

    def give_up(self, error: Exception) -> None:
        """End: there is no sense in going on."""
        self.failure = error
        self.exit(return_code=1)

    def panic(self, *_: object) -> None:
        """An exception that nobody expected. Textual would print it; whoever runs the app knows better."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        self.failure = getattr(self._exception, "error", self._exception)  # a worker's is wrapped
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        """Whatever ended the app: the terminal is free again, and now all that was started ends."""
        if self._bottom is not None:
            await self._bottom.leave()

    def action_help(self) -> None:
        """The keys, and a few words on what has the focus."""
        from acp_tui.ui.screens.help import HelpScreen

        self.push_screen(HelpScreen.over(self.screen))

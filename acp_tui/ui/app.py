"""The Textual app: the theme, the keys, and the screen it begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App

from acp_tui.ui import keys
from acp_tui.ui.theming import available, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from acp_tui.ui.palette import Palette


class AcpTui(App[int]):
    """One run of acp-tui on a terminal."""

    TITLE = "acp-tui"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = keys.bindings("app")
    CSS = """
    Screen { background: $background; }
    """

    def __init__(self, first: Callable[[Palette], Screen[None]], *, theme: str = "dark") -> None:
        super().__init__(ansi_color=False)
        self._first = first
        self.palettes: dict[str, Palette] = {}
        for name in available():
            loaded = load(name)
            self.register_theme(loaded.theme)
            self.palettes[loaded.theme.name] = loaded.palette
        self.theme = load(theme).theme.name

    @property
    def palette(self) -> Palette:
        """The colours in force."""
        return self.palettes[self.theme]

    def on_mount(self) -> None:
        """Show the first screen."""
        self.push_screen(self._first(self.palette))

    def action_help(self) -> None:
        """The keys, and a few words on what has the focus."""
        from acp_tui.ui.screens.help import HelpScreen

        self.push_screen(HelpScreen.over(self.screen))

"""The theme of the running app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from acp_tui.ui.terminal.background import BackgroundReply, BackgroundWatcher
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.theme.theme_choice import ThemeChoice
    from acp_tui.ui.theme.themes import LoadedTheme


class AppTheme:
    """Applies the chosen theme to the app. With the theme `auto`, follows the terminal's background."""

    def __init__(
        self,
        app: App[Any],
        choice: ThemeChoice,
        background: BackgroundWatcher,
        problems: list[str],
        changed: Callable[[], None],
    ) -> None:
        """Store the arguments. No theme is applied before `use` is called.

        Args:
            app: The app.
            choice: The chosen theme.
            background: Used to ask the terminal for its background if the theme is `auto`.
            problems: A list to which problems with themes are added, one sentence each.
            changed: Called after a theme has been applied.
        """
        self._app = app
        self._choice = choice
        self._background = background
        self._problems = problems
        self._changed = changed
        self._palettes: dict[str, Palette] = {}

    @property
    def name(self) -> str:
        """The name of the chosen theme, as in the settings."""
        return self._choice.name

    @property
    def palette(self) -> Palette:
        """The colours of the current theme."""
        return self._palettes[self._app.theme]

    def choose(self, name: str) -> None:
        """Switch to another theme."""
        self._choice.choose(name)
        self.use(self._choice.load(dark=self._background.dark))

    def follow(self, reply: BackgroundReply) -> bool:
        """Apply another theme if the terminal's background has changed and the theme is `auto`.

        Return True if a theme was applied.
        """
        follows = self._background.receive(reply) and self._choice.is_auto
        if follows:
            self.use(self._choice.load(dark=reply.dark))
        return follows

    def use(self, loaded: LoadedTheme) -> None:
        """Apply a theme."""
        if self._choice.is_auto:
            self._background.start()
        self._app.ansi_color = loaded.theme.ansi
        self._palettes[loaded.theme.name] = loaded.palette
        self._app.register_theme(loaded.theme)
        self._app.theme = loaded.theme.name
        self._changed()
        self._problems += loaded.problems

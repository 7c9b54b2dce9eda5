"""The user's choice of a theme: a theme's name, or `auto` for a theme that fits the terminal's background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.config.early_settings import AUTO_THEME
from acp_tui.ui.theme.themes import load_theme

if TYPE_CHECKING:
    from acp_tui.config.early_settings import EarlySettings
    from acp_tui.ui.theme.themes import LoadedTheme


class ThemeChoice:
    """The name of the chosen theme. For `auto`, also decides which theme is used on which background."""

    def __init__(self, settings: EarlySettings | None, name: str | None) -> None:
        """Choose the theme `name`; if that is None, the theme in the settings."""
        self._settings = settings
        self._key: str | None = None  # the setting that `name` comes from
        if name is None and settings is not None and settings.theme is not None:
            name, self._key = settings.theme, "theme"
        self.name = name or AUTO_THEME
        """The name of the chosen theme, as in the settings."""

    @property
    def is_auto(self) -> bool:
        """True if the theme depends on the terminal's background."""
        return self.name == AUTO_THEME

    def choose(self, name: str) -> None:
        """Choose another theme, or `auto`."""
        self.name, self._key = name, None

    def load(self, *, dark: bool) -> LoadedTheme:
        """Load the chosen theme, for a `dark` or a light background."""
        name, key = (self.name, self._key) if not self.is_auto else self._for_background(dark=dark)
        return load_theme(name, None if key is None else lambda: f"{self._origin(key)}: {key}")

    def _for_background(self, *, dark: bool) -> tuple[str, str | None]:
        """Return the theme that `auto` uses, and the key of the setting that names the theme.

        The key is None if no setting names a theme for this background.
        """
        default, key = ("dark", "theme_dark") if dark else ("light", "theme_light")
        name: str | None = getattr(self._settings, key, None)
        return (name, key) if name is not None else (default, None)

    def _origin(self, key: str) -> str:
        """Return where the value of the setting `key` comes from, such as a file and a line."""
        from acp_tui.config.settings import find_origin

        assert self._settings is not None  # the key comes from them
        return str(find_origin(self._settings.cwd, key))

"""The command palette: the commands of the current screen and of the app, and the themes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import config_file
from acp_tui.ui.app_interface import app_of
from acp_tui.ui.keys.generated_commands import key_commands, theme_commands
from acp_tui.ui.keys.palette_command import PaletteCommand
from acp_tui.ui.screens.base import BaseScreen
from acp_tui.ui.screens.dialogs.palette import PaletteScreen

if TYPE_CHECKING:
    from textual.app import App


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
    await app.push_screen(PaletteScreen(title, commands, interface.palette, end_preview=restore_theme))


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

"""The Textual app: themes, program keys, and the screen that fills the terminal."""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import events, on

from acp_tui.session.text import visible, visible_line
from acp_tui.ui import keys
from acp_tui.ui.conversation.toasts import VisibleToasts, notify_problems
from acp_tui.ui.screens.base import BaseScreen
from acp_tui.ui.terminal.background import BackgroundReply, BackgroundWatcher, background_hint
from acp_tui.ui.terminal.passthrough import write_to_terminal
from acp_tui.ui.terminal.resilient_app import ResilientApp
from acp_tui.ui.terminal.tab_progress import TabProgress
from acp_tui.ui.terminal.window_title import WindowTitle
from acp_tui.ui.theme.theme_choice import ThemeChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from acp_tui.config.early_settings import EarlySettings
    from acp_tui.controller import Conversation
    from acp_tui.ui.keys.palette_command import PaletteCommand
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.theme.themes import LoadedTheme

QUIT_CONFIRM_SECONDS = 3.0
"""Seconds within which a second Ctrl+Q quits although the agent is working."""


class MakeLauncher(Protocol):
    """A function that creates a launcher screen."""

    def __call__(self, palette: Palette, *, over: BaseScreen | None = None) -> BaseScreen:
        """Return a launcher to be opened over another screen, or as the base screen if `over` is None."""


class AcpTui(ResilientApp):
    """One run of acp-tui on a terminal."""

    TITLE = "acp-tui"
    ENABLE_COMMAND_PALETTE = False  # replaced by `action_palette`, which has the keys of our other lists
    DEFAULT_MODE = "first"  # one mode per base screen: removing the mode removes the screen
    BINDINGS: ClassVar = keys.bindings("app")
    CSS = """
    Screen { background: $background; }
    ToastRack {  /* never over the prompt and the last lines of the conversation */
        dock: top; align: right top; margin: 1 0 0 0; max-height: 50%; scrollbar-size: 0 0;
    }
    Toast { padding: 0 1; background: $panel; }
    """

    def __init__(
        self,
        make_first_screen: Callable[[Palette], BaseScreen],
        *,
        theme: str | None = None,
        settings: EarlySettings | None = None,
        launcher: MakeLauncher | None = None,
        sessions: MakeLauncher | None = None,
    ) -> None:
        """Create the app.

        Args:
            make_first_screen: Makes the screen to start with.
            theme: The theme to use instead of the one in the settings.
            settings: The settings that the first frame needs.
            launcher: Makes the launcher; None if there is none, as in a replay.
            sessions: Makes the screen with the recorded sessions, likewise.
        """
        self._settings = settings
        self._problems: list[str] = []
        self._palettes: dict[str, Palette] = {}
        self._theme_choice = ThemeChoice(settings, theme)
        loaded = self._theme_choice.load(dark=background_hint(os.environ) is not False)
        super().__init__(ansi_color=loaded.theme.ansi)
        send = partial(write_to_terminal, self)
        self._background = BackgroundWatcher(self.terminal_modes, send, os.environ)
        self.exit_signal: int | None = None
        """The number of the signal that ended the app; None if none did."""
        self.window_title = WindowTitle(send)
        self.tab_progress = TabProgress(self.terminal_modes, os.environ, self.set_interval)
        self._quit_requested_at = -QUIT_CONFIRM_SECONDS
        self._visible_toasts = VisibleToasts()
        self._make_first_screen = make_first_screen
        self._make_launcher = launcher
        self._make_sessions = sessions
        self._base_screen: BaseScreen | None = None
        self._used_launcher = False
        self._early_keys: list[events.Key] | None = []  # None once the first screen handles keys
        self._clipboard_text = ""
        self._use_loaded_theme(loaded)
        self.keymap = self._load_keymap()
        """The user's own keys, by key id."""

    # ------------------------------------------------------------------------- settings

    def _load_keymap(self) -> dict[str, str]:
        settings = self._settings
        if settings is None or not settings.keys:
            return {}
        from acp_tui.ui.keys.user_keymap import check_keys

        found = check_keys(settings.keys)
        for name, problem in found.problems.items():
            self._problems.append(f"{_origin(settings, f'keys.{name}')}: keys.{name}: {problem}")
        self.set_keymap(found.keys)
        return found.keys

    # ------------------------------------------------------------------------- start

    def on_mount(self) -> None:
        """Show problems with the settings once the first frame is complete."""
        # Registering the mode earlier would make Textual read all styles a second time.
        self.add_mode(self.DEFAULT_MODE, self.get_default_screen)
        # After Ctrl+Z and `fg` the terminal is empty, and Textual would draw only what changes.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        self.has_drawn = True
        self._notify_problems()

    async def on_event(self, event: events.Event) -> None:
        """Hold back keys until the first screen is mounted and has a focused widget."""
        if self._early_keys is not None and isinstance(event, events.Key):
            if self.focused is None or not self.screen.is_mounted:
                self._early_keys.append(event)
                return
            await self.deliver_early_keys()
        await super().on_event(event)

    def take_early_text(self) -> str:
        """Remove and return the text typed before the first frame. Stop at a key that is no character."""
        text = ""
        while self._early_keys and self._early_keys[0].is_printable:
            text += self._early_keys.pop(0).character or ""
        return text

    async def deliver_early_keys(self) -> None:
        """Process the keys held back, and stop holding keys back."""
        early, self._early_keys = self._early_keys, None
        for event in early or ():
            await super().on_event(event)

    # ------------------------------------------------------------------------- toasts

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002  # texts may come from agents and are never markup
    ) -> None:
        """Show a toast, unless the same one is visible already. Markup is not interpreted."""
        timeout = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        message, title = visible(message), visible_line(title)
        if self._visible_toasts.admit(message, timeout):
            if self.screen_stack and (place := getattr(self.screen, "place_toasts", None)) is not None:
                place()
            super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    def _notify_problems(self) -> None:
        notify_problems(self, self._problems)
        self._problems = []

    # ------------------------------------------------------------------------- themes

    def use_theme(self, name: str, *, preview: bool = False) -> None:
        """Switch to another theme. Problems with the theme are shown, except in a preview."""
        self._theme_choice.choose(name)
        self._use_loaded_theme(self._theme_choice.load(dark=self._background.dark))
        if preview:
            self._problems.clear()
        self._notify_problems()

    @property
    def theme_name(self) -> str:
        """The name of the chosen theme, as in the settings."""
        return self._theme_choice.name

    @on(BackgroundReply)
    def _follow_background(self, reply: BackgroundReply) -> None:
        if self._background.receive(reply) and self._theme_choice.is_auto:
            self._use_loaded_theme(self._theme_choice.load(dark=reply.dark))
            if self.has_drawn:
                self._notify_problems()

    def _use_loaded_theme(self, loaded: LoadedTheme) -> None:
        if self._theme_choice.is_auto:
            self._background.start()
        self.ansi_color = loaded.theme.ansi
        self._palettes[loaded.theme.name] = loaded.palette
        self.register_theme(loaded.theme)
        self.theme = loaded.theme.name
        self._problems += loaded.problems

    @property
    def palette(self) -> Palette:
        """The colours of the current theme."""
        return self._palettes[self.theme]

    # ------------------------------------------------------------------------- the base screen

    def get_default_screen(self) -> BaseScreen:
        """Return the first screen. Textual would otherwise put a blank one below it, which costs time."""
        self._base_screen = screen = self._make_first_screen(self.palette)
        screen.mode = self.DEFAULT_MODE
        return screen

    async def replace_screen(self, screen: BaseScreen) -> None:
        """Show another base screen; close the current one with its dialogs and shut down what it owns."""
        before, self._base_screen = self._base_screen, screen
        self._used_launcher = self._used_launcher or self._is_launcher_open
        mode_before, screen.mode = self.current_mode, f"{self.DEFAULT_MODE} {id(screen)}"
        self.add_mode(screen.mode, lambda: screen)
        await self.switch_mode(screen.mode)
        if before is not None:
            await before.leave()
        await self.remove_mode(mode_before)

    @on(BaseScreen.SwitchRequested)
    def _switch_screen(self, event: BaseScreen.SwitchRequested) -> None:
        self.run_worker(self.replace_screen(event.screen))

    @on(BaseScreen.Failed)
    def _leave_failed_screen(self, event: BaseScreen.Failed) -> None:
        """Go back to the launcher if the user came from there; otherwise exit."""
        if self._used_launcher and self._make_launcher is not None:
            self.run_worker(self._replace_failed_screen(event.error, self._make_launcher(self.palette)))
        else:
            self.failure = event.error
            self.exit(return_code=1)

    async def _replace_failed_screen(self, error: Exception, launcher: BaseScreen) -> None:
        await self.replace_screen(launcher)
        self.notify(str(error), severity="error", timeout=10, markup=False)

    def is_essential(self, screen: Screen[Any]) -> bool:
        """Return True if this is the base screen, without which the app cannot continue."""
        return screen is self._base_screen

    @property
    def _is_launcher_open(self) -> bool:
        return any(getattr(screen, "is_launcher", False) for screen in self.screen_stack)

    @property
    def _can_open_launcher(self) -> bool:
        return self._make_launcher is not None and not self._is_launcher_open

    def action_launcher(self) -> None:
        """Open the launcher over the conversation, which continues."""
        if self._make_launcher is not None and self._can_open_launcher:
            self.push_screen(self._make_launcher(self.palette, over=self._base_screen))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now. The footer omits the keys of others."""
        if action == "sessions":
            return self._make_sessions is not None and self._may_open_sessions
        return super().check_action(action, parameters)

    @property
    def _may_open_sessions(self) -> bool:
        """False below a dialog, whose keys would be lost, and if the screen is open already."""
        return isinstance(self.screen, BaseScreen) and not self.screen.lists_sessions

    def open_conversations(self) -> list[Conversation]:
        """Return the conversations of this app."""
        screens = [self._base_screen] if self._base_screen is not None else []
        return [conversation for screen in screens if (conversation := screen.open_conversation) is not None]

    def action_sessions(self) -> None:
        """List the recorded sessions, over the current screen."""
        if self._make_sessions is not None and self._may_open_sessions:
            self.push_screen(self._make_sessions(self.palette, over=self._base_screen))

    # ------------------------------------------------------------------------- the clipboard

    @property
    def clipboard(self) -> str:
        """The text that was copied last in the app, which Ctrl+V pastes."""
        return self._clipboard_text

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text and show a toast that says where it went."""
        self._clipboard_text = text
        self.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        from acp_tui.ui.terminal.clipboard_write import copy

        self.notify(await copy(text, partial(write_to_terminal, self), os.environ), timeout=3, markup=False)

    # ------------------------------------------------------------------------- the end

    async def action_quit(self) -> None:
        """Quit. While the agent works, that takes two requests within `QUIT_CONFIRM_SECONDS`."""
        now = time.monotonic()
        working = self._base_screen is not None and self._base_screen.busy_reason() is not None
        if not working or now - self._quit_requested_at < QUIT_CONFIRM_SECONDS:
            self.exit()
            return
        self._quit_requested_at = now
        key = keys.bound_keys(self, "app.quit")
        self.notify(
            f"The agent is still working. Press {key} again to quit.",
            timeout=QUIT_CONFIRM_SECONDS,
            markup=False,
        )

    def shut_down(self, signal_number: int) -> None:
        """Exit because of a signal. A program on the terminal, such as an editor, ends first."""
        self.exit_signal = self.exit_signal or signal_number
        self._ending = asyncio.create_task(self._end_programs_and_exit())

    async def _end_programs_and_exit(self) -> None:
        from acp_tui.ui.terminal.suspend import end_programs

        await end_programs()
        self.exit()

    async def on_unmount(self) -> None:
        """End any program that uses the terminal, then shut down the base screen."""
        from acp_tui.ui.terminal.suspend import end_programs

        try:
            await end_programs()
            if self._base_screen is not None:
                await self._base_screen.leave()
        except Exception as error:  # Textual must still shut down and restore the terminal
            self.failure = self.failure or error

    # ------------------------------------------------------------------------- help and palette

    def action_help(self) -> None:
        """Show all keys, those of the focused widget first; close the help if it is open."""
        from acp_tui.ui.screens.dialogs.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen.for_screen(self.screen, self.keymap))

    async def action_palette(self) -> None:
        """Open the command palette."""
        from acp_tui.ui.keys.generated_commands import key_commands

        of_screen = list(self.screen.commands()) if isinstance(self.screen, BaseScreen) else []
        tasks = [command for command in of_screen if not command.is_value]
        values = [command for command in of_screen if command.is_value]
        by_key = key_commands(self.screen, self.keymap)
        commands = [*tasks, *self._program_commands(), *by_key, *values, *self._theme_commands()]
        await self._open_palette("Commands", commands)

    async def action_theme(self) -> None:
        """Choose a theme. The highlighted one is applied as a preview."""
        await self._open_palette("Theme", self._theme_commands())

    async def _open_palette(self, title: str, commands: list[PaletteCommand]) -> None:
        from acp_tui.ui.screens.dialogs.palette import PaletteScreen

        restore_theme = partial(self._restore_theme, self.theme_name)
        await self.push_screen(PaletteScreen(title, commands, self.palette, end_preview=restore_theme))

    def _restore_theme(self, name: str) -> None:
        if self.theme_name != name:
            self.use_theme(name, preview=True)

    def _program_commands(self) -> Iterator[PaletteCommand]:
        from acp_tui.ui.keys.palette_command import PaletteCommand

        if self._can_open_launcher:
            yield PaletteCommand(
                "Switch agent or session", self.action_launcher, "Program", word="other launcher"
            )
        yield PaletteCommand("Change theme", self.action_theme, "Program")

    def _theme_commands(self) -> list[PaletteCommand]:
        from acp_tui.ui.keys.generated_commands import theme_commands

        return theme_commands(
            self.theme_name, choose=self._choose_theme, preview=partial(self.use_theme, preview=True)
        )

    def _choose_theme(self, name: str) -> None:
        from acp_tui.config.paths import config_file

        self.use_theme(name)
        self.notify(f'To keep this theme, set theme = "{name}" in {config_file()}', markup=False)


def _origin(settings: EarlySettings, key: str) -> str:
    """Return where a setting is set, such as a file and its line, for an error message."""
    from acp_tui.config.settings import find_origin

    return str(find_origin(settings.cwd, key))

"""The Textual app: the theme, the keys, and the screen it begins with."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App

from acp_tui.session.text import visible, visible_line
from acp_tui.ui import keys
from acp_tui.ui.conversation.toasts import VisibleToasts, notify_problems
from acp_tui.ui.terminal import error_containment
from acp_tui.ui.theme.themes import DEFAULT_THEME, PREFIX, LoadedTheme, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType
    from textual.driver import Driver
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from acp_tui.config.early_settings import EarlySettings
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.theme.palette import Palette

QUIT_PAUSE = 3.0
"""Seconds in which a second Ctrl+Q quits although the agent is working."""


class AcpTui(App[int]):
    """One run of acp-tui on a terminal."""

    TITLE = "acp-tui"
    ENABLE_COMMAND_PALETTE = False  # ours looks like the other lists, and takes their keys
    DEFAULT_MODE = "first"  # one of Textual's modes for each screen at the bottom: such can be taken away
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
        first: Callable[[Palette], BaseScreen],
        *,
        theme: str | None = None,
        wishes: EarlySettings | None = None,
        launcher: Callable[[Palette], BaseScreen] | None = None,
    ) -> None:
        """`theme` comes before that of the `wishes`; `launcher` is where one gets to from a conversation."""
        self._wishes = wishes
        self._problems: list[str] = []
        self._palettes: dict[str, Palette] = {}
        loaded = self._loaded(theme)
        error_containment.install()
        super().__init__(ansi_color=loaded.theme.ansi)
        self.failure: Exception | None = None
        """What ended the app, where that was not the user's wish."""
        self.ended_by: int | None = None
        """… or which signal."""
        self._drawn = False
        self._error_counts: Counter[tuple[str, int, str]] = Counter()
        self._quit_requested_at = -QUIT_PAUSE
        self._error_limit = error_containment.ErrorLimit()
        self._visible_toasts = VisibleToasts()
        self._first = first
        self._launcher = launcher
        self._bottom: BaseScreen | None = None
        self._launched = False
        self._early: list[events.Key] | None = []  # keys that came before there was something to type into
        self._use_loaded_theme(loaded)
        self.keymap = self._user_keymap()
        """What is bound otherwise than in the table: keys by the id of the action."""

    def get_driver_class(self) -> type[Driver]:
        """What knows the terminal."""
        from acp_tui.ui.terminal.driver import TerminalDriver

        return TerminalDriver

    # ------------------------------------------------------------------------- what the user wants otherwise

    def _loaded(self, name: str | None) -> LoadedTheme:
        wishes = self._wishes
        if name is None and wishes is not None and wishes.theme is not None:
            return load(wishes.theme, lambda: f"{_origin(wishes, 'theme')}: theme")
        return load(DEFAULT_THEME if name is None else name)

    def _user_keymap(self) -> dict[str, str]:
        wishes = self._wishes
        if wishes is None or not wishes.keys:
            return {}
        from acp_tui.ui.keys.keymap import keymap

        found = keymap(wishes.keys)
        for name, complaint in found.complaints.items():
            self._problems.append(f"{_origin(wishes, f'keys.{name}')}: keys.{name}: {complaint}")
        self.set_keymap(found.keys)
        return found.keys

    def on_mount(self) -> None:
        """What was wrong is told when there is something to tell it on."""
        # As the name of a mode only now: known before its screen, it costs another reading of all styles.
        self.add_mode(self.DEFAULT_MODE, self.get_default_screen)
        # After Ctrl+Z and `fg` the terminal is empty, and Textual would draw only what changes.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.call_after_refresh(self._first_frame)

    def _first_frame(self) -> None:
        self._drawn = True
        self._tell_problems()

    async def on_event(self, event: events.Event) -> None:
        """What is typed before the first screen stands is kept for it."""
        if self._early is not None and isinstance(event, events.Key):
            if self.focused is None or not self.screen.is_mounted:
                self._early.append(event)
                return
            await self.catch_up()
        await super().on_event(event)

    def early_text(self) -> str:
        """What was typed first, up to the first key that does not write; it can stand in the first frame."""
        text = ""
        while self._early and self._early[0].is_printable:
            text += self._early.pop(0).character or ""
        return text

    async def catch_up(self) -> None:
        """The first screen stands: it gets what was typed for it."""
        early, self._early = self._early, None
        for event in early or ():
            await super().on_event(event)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002  # what is told is data, whoever tells it
    ) -> None:
        """Show a toast, unless it is visible already. Nothing in its text is taken for markup."""
        timeout = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        message, title = visible(message), visible_line(title)
        if self._visible_toasts.admit(message, timeout):
            if self._screen_stack and (place := getattr(self.screen, "place_toasts", None)) is not None:
                place()
            super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    def _tell_problems(self) -> None:
        notify_problems(self, self._problems)
        self._problems = []

    # ------------------------------------------------------------------------- colours

    def use_theme(self, name: str, *, trying: bool = False) -> None:
        """Change all colours. What is wrong with a theme is told unless it is only tried."""
        loaded = load(name)
        self.ansi_color = loaded.theme.ansi
        self._use_loaded_theme(loaded)
        if trying:
            self._problems.clear()
        self._tell_problems()

    @property
    def theme_name(self) -> str:
        """As it is called in the settings."""
        return self.theme.removeprefix(PREFIX)

    def _use_loaded_theme(self, loaded: LoadedTheme) -> None:
        self._palettes[loaded.theme.name] = loaded.palette
        self.register_theme(loaded.theme)
        self.theme = loaded.theme.name
        self._problems += loaded.problems

    @property
    def palette(self) -> Palette:
        """The colours in force."""
        return self._palettes[self.theme]

    # ------------------------------------------------------------------------- the screen at the bottom

    def get_default_screen(self) -> BaseScreen:
        """The first one at the bottom: a blank one below it would only cost time."""
        self._bottom = self._first(self.palette)
        return self._bottom

    async def replace_screen(self, screen: BaseScreen) -> None:
        """Another screen at the bottom, in place of all there are; what ran behind them ends."""
        before, self._bottom = self._bottom, screen
        self._launched = self._launched or self._at_launcher
        mode, mode_before = f"{self.DEFAULT_MODE} {id(screen)}", self.current_mode
        self.add_mode(mode, lambda: screen)
        await self.switch_mode(mode)
        if before is not None:
            await before.leave()
        await self.remove_mode(mode_before)

    @property
    def bottom(self) -> BaseScreen | None:
        """The screen that is there to stay; the launcher may be open over it."""
        return self._bottom

    @property
    def _at_launcher(self) -> bool:
        return any(getattr(screen, "is_launcher", False) for screen in self.screen_stack)

    @property
    def has_launcher(self) -> bool:
        """Can one go to the launcher from here?"""
        return self._launcher is not None and not self._at_launcher

    def action_launcher(self) -> None:
        """Open the launcher over the conversation, which goes on."""
        if self._launcher is not None and self.has_launcher:
            self.push_screen(self._launcher(self.palette))

    # ------------------------------------------------------------------------- the clipboard

    def copy_to_clipboard(self, text: str) -> None:
        """Copy, and say what became of it."""
        self._clipboard = text  # what Ctrl+V pastes, whatever the terminal does
        self.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        from acp_tui.ui.terminal.clipboard_write import copy
        from acp_tui.ui.terminal.passthrough import write_to_terminal

        self.notify(await copy(text, partial(write_to_terminal, self), os.environ), timeout=3, markup=False)

    # ------------------------------------------------------------------------- the end

    async def action_quit(self) -> None:
        """Quit; during a turn only when asked twice."""
        now = time.monotonic()
        working = self._bottom is not None and self._bottom.busy_reason() is not None
        if not working or now - self._quit_requested_at < QUIT_PAUSE:
            self.exit()
            return
        self._quit_requested_at = now
        key = keys.bound_keys(self, "app.quit")
        self.notify(
            f"The agent is still working. Press {key} again to quit.", timeout=QUIT_PAUSE, markup=False
        )

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Not amid the first frame: what is only half there cannot be taken down."""
        leave = partial(super().exit, result, return_code, message)
        if self._drawn or self._driver is None:
            leave()
        else:
            self.call_after_refresh(leave)

    def hurry(self) -> None:
        """A signal is about to end it: it waits for no terminal that stands still. May come amid anything."""
        from acp_tui.ui.terminal.driver import TerminalDriver

        if isinstance(self._driver, TerminalDriver):
            self._driver.hurry()

    def end(self, number: int) -> None:
        """A signal wants the end. Whoever has the terminal ends first, and what was saved there is taken."""
        self.ended_by = self.ended_by or number
        self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        from acp_tui.ui.terminal.suspend import end_programs

        await end_programs()
        self.exit()

    def give_up(self, error: Exception) -> None:
        """There is no sense in going on: back to where it was chosen, else end."""
        if self._launched and self._launcher is not None:
            self.run_worker(self._back(error, self._launcher(self.palette)))
        else:
            self.failure = error
            self.exit(return_code=1)

    async def _back(self, error: Exception, launcher: BaseScreen) -> None:
        await self.replace_screen(launcher)
        self.notify(str(error), severity="error", timeout=10, markup=False)

    # ------------------------------------------------------------------------- what goes wrong

    def _handle_exception(self, error: Exception) -> None:
        """Textual calls this with every error that nobody has handled, and would end the app.

        Goes on unless there is nothing to go on with: before the first frame, while the app ends anyway, when
        the screen at the bottom has no parts or no layout, and when errors feed themselves. A dialog in that
        state is closed.
        """
        error = getattr(error, "error", error)  # a worker's is wrapped
        broken = error_containment.broken_screen(error)
        going_on = self._drawn and self._running and not self._exit and not self._error_limit.exceeded()
        if not going_on or (broken is not None and broken is self._bottom):
            super()._handle_exception(error)
            return
        self.report(error)
        if broken is not None:
            self.call_later(self._close_broken, broken)

    def report(self, error: BaseException | None, doing: str = "on the screen") -> None:
        """Log an unexpected error, and name it and the log in a sentence."""
        from acp_tui.console.log_file import log_to_file

        error = error if error is not None else RuntimeError(doing)
        path = log_to_file()
        error_containment.record(error, self._error_counts, doing)
        where = f" Details are in {path}." if path is not None else ""
        sentence = f"Unexpected error: {error_containment.words_of(error)}.{where}"
        self.call_later(self.notify, sentence, severity="error", timeout=10, markup=False)

    async def _close_broken(self, screen: Screen[Any]) -> None:
        """Close a dialog that cannot be used, and what lies above it; its question is not answered."""
        while screen in self.screen_stack and self.screen is not screen:
            await self.pop_screen()
        if screen in self.screen_stack:
            screen.dismiss(None)

    def panic(self, *_: object) -> None:
        """An exception that nobody expected. Textual would print it; whoever runs the app knows better."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        self.failure = getattr(self._exception, "error", self._exception)  # a worker's is wrapped
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        """Whatever ended the app: the terminal is free again, and now all that was started ends."""
        from acp_tui.ui.terminal.suspend import end_programs

        try:
            await end_programs()
            if self._bottom is not None:
                await self._bottom.leave()
        except Exception as error:  # what is left of the app would not be ended, nor the terminal given back
            self.failure = self.failure or error

    # ------------------------------------------------------------------------- keys

    def action_help(self) -> None:
        """The keys, and a few words on what has the focus; once more: back."""
        from acp_tui.ui.screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen.over(self.screen, self.keymap))

    async def action_palette(self) -> None:
        """Every command by its name."""
        from acp_tui.ui.keys.palette_commands import commands_of
        from acp_tui.ui.screens.palette import PaletteScreen

        commands = commands_of(self.screen, self.keymap)
        await self.push_screen(PaletteScreen("Commands", commands, self.palette))

    def action_theme(self) -> None:
        """All themes; the one the cursor is on is shown."""
        from acp_tui.ui.keys.palette_commands import theme_commands
        from acp_tui.ui.screens.palette import PaletteScreen

        self.push_screen(PaletteScreen("Theme", theme_commands(self), self.palette))


def _origin(settings: EarlySettings, key: str) -> str:
    """Where a setting comes from, for an error message."""
    from acp_tui.config.settings import find_origin

    return str(find_origin(settings.cwd, key))

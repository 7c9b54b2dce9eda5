"""The Textual app: themes, toasts, app-wide keys, and the tabs with their screens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual import events, on

from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import BaseScreen, TextPlace
from acp_tui.ui.dialogs.toasts import VisibleToasts, notify_problems, place_toasts
from acp_tui.ui.keys.key_sequencer import KeySequencer, alt_keys_of
from acp_tui.ui.tabs.tabs import QuitGuard, Tabs
from acp_tui.ui.terminal.passthrough import (
    BackgroundReply,
    BackgroundWatcher,
    TabProgress,
    WindowTitle,
    background_hint,
    write_to_terminal,
)
from acp_tui.ui.terminal.resilient_app import ResilientApp
from acp_tui.ui.theme.themes import AppTheme, ThemeChoice

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from acp_tui.config.early_settings import EarlySettings
    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.store.open_tabs import OpenTabsFile
    from acp_tui.ui.tabs.tab_strip import Tab, TabStrip

    MakeTabs = Callable[[], tuple[Sequence[BaseScreen], Sequence[BaseScreen]]]


class MakeLauncher(Protocol):
    """A function that creates the launcher, or the screen with the recorded sessions."""

    def __call__(self, *, over: BaseScreen | None = None) -> BaseScreen:
        """Return a new screen. The screen covers `over`, or is a tab's base screen if `over` is None."""


class AcpTui(ResilientApp):
    """The Textual app of acp-tui. The app shows one screen per tab."""

    TITLE = "acp-tui"
    ENABLE_COMMAND_PALETTE = False  # replaced by `action_palette`, which has the keys of our other lists
    DEFAULT_MODE = "first"  # the mode of the first tab; each tab has its own mode
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
        make_first_screen: Callable[[], BaseScreen],
        *,
        theme: str | None = None,
        settings: EarlySettings | None = None,
        launcher: MakeLauncher | None = None,
        sessions: MakeLauncher | None = None,
        open_tabs: OpenTabsFile | None = None,
        restored_tabs: MakeTabs = lambda: ([], []),
    ) -> None:
        """Create the app.

        Args:
            make_first_screen: Makes the screen to start with.
            theme: The theme to use instead of the one in the settings.
            settings: The settings that the first frame needs.
            launcher: Makes the launcher; None if there is none, as in a replay.
            sessions: Makes the screen with the recorded sessions; None if there is none.
            open_tabs: Where the open tabs are saved; None if they are not saved.
            restored_tabs: Makes the screens of tabs restored from an earlier run. Returns two lists: the
                screens to the left of the first screen, and the screens to the right of the first screen.
        """
        self._settings = settings
        self._problems: list[str] = []
        self._alt_explained = False
        choice = ThemeChoice(settings, theme)
        loaded = choice.load(dark=background_hint(os.environ) is not False)
        super().__init__(ansi_color=loaded.theme.ansi)
        send = partial(write_to_terminal, self)
        background = BackgroundWatcher(self.terminal_modes, send, os.environ)
        self.exit_signal: int | None = None
        """The number of the signal that made the app exit, or None."""
        self.window_title = WindowTitle(send)
        self.tab_progress = TabProgress(self.terminal_modes, os.environ, self.set_interval)
        self._visible_toasts = VisibleToasts()
        self._make_first_screen = make_first_screen
        self._make_launcher = launcher
        self._make_sessions = sessions
        self._restored_tabs = restored_tabs
        self.tabs = Tabs(self, launcher, open_tabs)
        """The open conversations."""
        self._quit_guard = QuitGuard(self, self.tabs)
        self._used_launcher = False
        self.key_sequencer = KeySequencer(
            self, super().on_event, lambda screen: not getattr(screen, "is_placeholder", False)
        )
        """Passes keys and pastes to the screen in order, once the screen can handle them."""
        self._clipboard_text = ""
        self._theme = AppTheme(self, choice, background, self._problems)
        self._theme.use(loaded)
        self.keymap = self._load_keymap()
        """The user's own keys, by key id."""

    # ------------------------------------------------------------------------- settings

    def _load_keymap(self) -> dict[str, str]:
        settings = self._settings
        if settings is None or not settings.keys:
            return {}
        from acp_tui.ui.keys.user_keymap import check_keys

        found = check_keys(settings.keys)
        self._problems += found.problems_with_origin(settings.cwd)
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
        """Handle an event. Keys and pastes wait until the screen that they are meant for can handle them."""
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            if isinstance(event, events.Key):
                self._explain_alt_character(event.character or "")
            await self.key_sequencer.process(event)
        else:
            await super().on_event(event)

    def _explain_alt_character(self, character: str) -> None:
        """Say once that a character may have been meant as an Alt key, if such a key is bound here."""
        wanted = alt_keys_of(character) if character and not self._alt_explained else ()
        if key := next((name for name in wanted if name in self.screen.active_bindings), None):
            self._alt_explained = True
            words = f'This terminal types "{character}" for {keys.key_name(key)}.'
            self.notify(f"If you meant the key: {words} F1 lists other keys, docs/keys.md has the setting.")

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
        """Show a toast, unless one with the same message is visible already. Markup is not interpreted."""
        timeout = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        message, title = escape_controls(message), escape_line(title)
        if self._visible_toasts.admit(message, timeout):
            if self.screen_stack:
                place_toasts(self.screen)
            super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    def _notify_problems(self) -> None:
        notify_problems(self, self._problems)
        self._problems.clear()

    # ------------------------------------------------------------------------- themes

    def use_theme(self, name: str, *, preview: bool = False) -> None:
        """Switch to another theme. Problems with the theme are shown, except in a preview."""
        self._theme.choose(name)
        if preview:
            self._problems.clear()
        self._notify_problems()

    @property
    def theme_name(self) -> str:
        """The name of the chosen theme, as in the settings."""
        return self._theme.name

    @on(BackgroundReply)
    def _follow_background(self, reply: BackgroundReply) -> None:
        if self._theme.follow(reply) and self.has_drawn:
            self._notify_problems()

    # ------------------------------------------------------------------------- tabs

    def get_default_screen(self) -> BaseScreen:
        """Return the first screen. It takes the place of the blank screen that Textual opens by default."""
        screen = self._make_first_screen()
        self.tabs.add_first(screen)
        before, after = self._restored_tabs()
        self.tabs.add_restored(before, after)
        return screen

    @on(BaseScreen.StateChanged)
    def _update_tab(self, event: BaseScreen.StateChanged) -> None:
        self.tabs.update_state(event.screen)

    @on(BaseScreen.SwitchRequested)
    def _switch_screen(self, event: BaseScreen.SwitchRequested) -> None:
        self._used_launcher = self._used_launcher or event.before.is_launcher
        self.run_worker(self.tabs.replace(event.before, event.screen))

    @on(BaseScreen.TabRequested)
    def _open_tab(self, event: BaseScreen.TabRequested) -> None:
        self.run_worker(self.tabs.open_tab(event.screen))

    @on(BaseScreen.CloseRequested)
    def _close_screen(self, event: BaseScreen.CloseRequested) -> None:
        if (tab := self.tabs.of_screen(event.screen)) is not None:
            self.run_worker(self.tabs.close_tab(tab))

    @on(BaseScreen.Failed)
    def _leave_failed_screen(self, event: BaseScreen.Failed) -> None:
        """Close the tab of a screen that could not start, and show why as a toast.

        If this tab is the only one, return to the launcher if the user has used the launcher; otherwise, exit
        with the error.
        """
        tab = self.tabs.of_screen(event.screen)
        if tab is None:
            return
        if len(self.tabs) > 1 or (self._used_launcher and self._make_launcher is not None):
            self.run_worker(self._close_failed(tab, event.error))
        else:
            self.failure = event.error
            self.exit(return_code=1)

    async def _close_failed(self, tab: Tab, error: UserError) -> None:
        await self.tabs.remove(tab)
        self.notify(str(error), severity="error", timeout=10, markup=False)

    def is_essential(self, screen: Screen[Any]) -> bool:
        """Return True if `screen` is the screen of the only tab: the app cannot continue without it."""
        return len(self.tabs) == 1 and self.tabs.of_screen(screen) is not None

    async def close_broken(self, screen: Screen[Any]) -> None:
        """Close a screen that cannot be drawn: a dialog, or the screen of a tab that is not the only one."""
        if (tab := self.tabs.of_screen(screen)) is not None:
            self.run_worker(self.tabs.remove(tab))
        else:
            await super().close_broken(screen)

    def show_session(self, session: str, place: TextPlace | None = None) -> bool:
        """Show the tab of a recorded session, scrolled to `place`. Return False if no tab has the session."""
        return self.tabs.show_session(session, place)

    @property
    def _can_open_tab(self) -> bool:
        is_launcher_open = any(getattr(screen, "is_launcher", False) for screen in self.screen_stack)
        return self._make_launcher is not None and not is_launcher_open

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now. The footer omits the keys of other actions."""
        match action:
            case "sessions":
                return self._make_sessions is not None and self._may_open_sessions
            case "new_tab":
                return self._can_open_tab
            case "turn_tab" | "show_tab":
                return len(self.tabs) > 1
            case "rename_tab":
                return self.tabs.current is not None and self.tabs.current.screen.can_be_renamed
        return super().check_action(action, parameters)

    def action_new_tab(self) -> None:
        """Open the launcher over the current screen. What the user chooses there opens in a new tab."""
        if self._make_launcher is not None and self._can_open_tab and self.tabs.current is not None:
            self.push_screen(self._make_launcher(over=self.tabs.current.screen))

    def action_turn_tab(self, step: int) -> None:
        """Show the next (1) or previous (-1) tab."""
        self.tabs.show_next(step)

    def action_show_tab(self, number: int) -> None:
        """Show the tab with this number, counted from 1."""
        self.tabs.show_index(number - 1)

    def on_tab_strip_tab_clicked(self, event: TabStrip.TabClicked) -> None:
        """Show the clicked tab."""
        self.tabs.show_index(event.index)

    def on_status_line_asking_tabs_clicked(self) -> None:
        """Show the tab that has waited longest for the user, as `action_show_waiting` does."""
        self.action_show_waiting()

    def action_show_waiting(self) -> None:
        """Show the tab that has waited longest for the user, and open its question."""
        if not self.tabs.show_waiting():
            self.notify("No agent is waiting for you.", timeout=3)

    def action_overview(self) -> None:
        """Open or close the screen that shows all open conversations and what they are doing."""
        from acp_tui.ui.tabs.overview import OverviewScreen

        if isinstance(self.screen, OverviewScreen):
            self.screen.dismiss(None)
        else:
            self.push_screen(OverviewScreen(self.tabs), self.tabs.show_if_open)

    def action_close_tab(self) -> None:
        """Close the current tab and end its agent."""
        if self.tabs.current is not None:
            self.run_worker(self.tabs.close_tab(self.tabs.current))

    def action_rename_tab(self) -> None:
        """Let the user name the conversation in the current tab."""
        self.tabs.rename_current()

    @property
    def _may_open_sessions(self) -> bool:
        """Whether the list of sessions may be opened: it is not open yet, and would not cover a dialog."""
        return isinstance(self.screen, BaseScreen) and not self.screen.lists_sessions

    def rename_session(self, session: str, name: str) -> bool:
        """Rename the session with the id `session`. Return False if no tab has this session open."""
        return self.tabs.rename_session(session, name)

    def open_conversations(self) -> list[Conversation]:
        """Return the conversations that are open in tabs."""
        return self.tabs.open_conversations()

    def action_sessions(self) -> None:
        """Open the screen with the recorded sessions over the current screen."""
        if self._make_sessions is not None and self._may_open_sessions:
            over = self.tabs.current.screen if self.tabs.current is not None else None
            self.push_screen(self._make_sessions(over=over))

    # ------------------------------------------------------------------------- the clipboard

    @property
    def clipboard(self) -> str:
        """The text that was last copied in the app. Ctrl+V pastes it."""
        return self._clipboard_text

    def copy_to_clipboard(self, text: str) -> None:
        """Copy text to the clipboard, and show a toast that says how the text was copied."""
        self._clipboard_text = text
        self.run_worker(self._copy(text), group="clipboard")

    async def _copy(self, text: str) -> None:
        from acp_tui.ui.terminal.clipboard import copy

        self.notify(await copy(text, partial(write_to_terminal, self), os.environ), timeout=3, markup=False)

    # ------------------------------------------------------------------------- the end

    async def action_quit(self) -> None:
        """Quit. While an agent is working, two requests in quick succession are needed."""
        self._quit_guard.request()

    def shut_down(self, signal_number: int) -> None:
        """Exit because of a signal, after ending any program that uses the terminal, such as an editor."""
        self.exit_signal = self.exit_signal or signal_number
        self.tabs.mark_ending()
        self._ending = asyncio.create_task(self._end_programs_and_exit())

    async def _end_programs_and_exit(self) -> None:
        from acp_tui.ui.terminal.suspend import end_programs

        await end_programs()
        self.exit()

    async def on_unmount(self) -> None:
        """End any program that uses the terminal, such as an editor. Then shut down all tabs' screens."""
        from acp_tui.ui.terminal.suspend import end_programs

        self._quit_guard.withdraw()  # the app may end while tabs are still asking
        try:
            await end_programs()
            await self.tabs.leave_all()
        except Exception as error:  # Textual must still shut down and restore the terminal
            self.failure = self.failure or error

    # ------------------------------------------------------------------------- help and palette

    def action_help(self) -> None:
        """Show all keys, those of the focused widget first; close the help if it is open."""
        from acp_tui.ui.dialogs.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen.for_screen(self.screen, self.keymap))

    async def action_palette(self) -> None:
        """Open the command palette."""
        from acp_tui.ui.dialogs.palette import open_commands

        await open_commands(self)

    async def action_theme(self) -> None:
        """Let the user choose a theme. The highlighted theme is applied as a preview."""
        from acp_tui.ui.dialogs.palette import open_themes

        await open_themes(self)

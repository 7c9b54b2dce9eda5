"""Opens, shows, replaces and closes the tabs of the app."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import BaseScreen, TabState, TextPlace
from acp_tui.ui.tabs.tab_strip import Tab
from acp_tui.ui.terminal import gc_control
from acp_tui.ui.terminal.error_containment import contain_errors

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import App

    from acp_tui.controller import Conversation
    from acp_tui.store.open_tabs import OpenTabsFile, SavedTab
    from acp_tui.store.stored_sessions import StoredSession
    from acp_tui.ui.screens.worktree import FinishDecision
    from acp_tui.workspace.git.worktree import Worktree, WorktreeLock


ANNOUNCEMENT_SECONDS = 8.0


class Tabs:
    """Owns the app's base screens. Each base screen, with the dialogs above it, has a separate Textual mode.

    Open, replace and close tabs in a worker: Textual cannot remove a mode from within a message handler.
    """

    def __init__(
        self,
        app: App[Any],
        make_launcher: Callable[[], BaseScreen] | None,
        saved: OpenTabsFile | None = None,
    ) -> None:
        """Create the tabs of an app.

        Args:
            app: The app.
            make_launcher: Makes the screen shown after the last tab was closed. If None, the app ends then.
            saved: Where the tabs are saved for the next run.
        """
        self._app = app
        self._saved = saved
        self._make_launcher = make_launcher
        self._tabs: list[Tab] = []
        self._modes = 0  # counts the modes, so that each has a name of its own
        self._changing = asyncio.Lock()  # held while tabs are added or removed
        self._leaving: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Tab]:
        return iter(self._tabs)

    def __len__(self) -> int:
        return len(self._tabs)

    @property
    def current(self) -> Tab | None:
        """The tab that the user sees.

        None before the first tab exists, and while the tab is being replaced or closed.
        """
        return next((tab for tab in self._tabs if tab.mode == self._app.current_mode), None)

    def of_screen(self, screen: object) -> Tab | None:
        """Return the tab whose base screen is `screen`; None if there is no such tab."""
        return next((tab for tab in self._tabs if tab.screen is screen), None)

    def working(self) -> list[Tab]:
        """Return the tabs whose agents are working."""
        return [tab for tab in self._tabs if tab.screen.busy_reason() is not None]

    def open_conversations(self) -> list[Conversation]:
        """Return the conversations of the tabs."""
        screens = [tab.screen for tab in self._tabs]
        return [conversation for screen in screens if (conversation := screen.open_conversation) is not None]

    @property
    def saved(self) -> OpenTabsFile | None:
        """Where the tabs are saved for the next run; None if they are not saved."""
        return self._saved

    # ------------------------------------------------------------------------- opening

    def add_first(self, screen: BaseScreen) -> None:
        """Add the tab of the app's first screen. That screen is in the default mode."""
        self._tabs.append(Tab(self._app.DEFAULT_MODE, screen))

    def add_restored(self, before: Sequence[BaseScreen], after: Sequence[BaseScreen]) -> None:
        """Add restored tabs before and after the first tab. Their agents start when the tabs are shown."""
        tabs = [[self._restored(screen) for screen in screens] for screens in (before, after)]
        self._tabs = [*tabs[0], *self._tabs, *tabs[1]]

    def _restored(self, screen: BaseScreen) -> Tab:
        tab = Tab(self._new_mode(), screen)
        self._app.add_mode(tab.mode, lambda: screen)
        return tab

    async def open_tab(self, screen: BaseScreen) -> None:
        """Open a screen in a new tab after the others, and show it."""
        async with self._changing:
            tab = Tab(self._new_mode(), screen)
            self._tabs.append(tab)
            self._app.add_mode(tab.mode, lambda: screen)
            await self._switch_to(tab)

    async def open_behind(self, screen: BaseScreen) -> Tab:
        """Open a screen in a new tab after the others, behind the current tab. Return the new tab."""
        async with self._changing:
            tab, current = Tab(self._new_mode(), screen), self.current
            self._tabs.append(tab)
            self._app.add_mode(tab.mode, lambda: screen)
            with self._app.batch_update():  # Textual mounts a screen only when it is shown
                await self._app.switch_mode(tab.mode)
                if current is not None:
                    await self._app.switch_mode(current.mode)
            self._changed()
            return tab

    async def replace(self, before: BaseScreen, screen: BaseScreen) -> None:
        """Show `screen` in the tab of `before`. `before` is closed with its dialogs and all it owns."""
        async with self._changing:
            tab = self.of_screen(before)
            if tab is None:
                return
            await self._replace(tab, screen)

    async def _replace(self, tab: Tab, screen: BaseScreen) -> None:
        before, was_current = tab.screen, tab is self.current
        new = Tab(self._new_mode(), screen)
        self._tabs[self._tabs.index(tab)] = new
        self._app.add_mode(new.mode, lambda: screen)
        if was_current:
            await self._switch_to(new)
        else:
            self._changed()
        self._retire(before, tab.mode)

    def _new_mode(self) -> str:
        self._modes += 1
        return f"tab {self._modes}"

    # ------------------------------------------------------------------------- showing

    def show(self, tab: Tab) -> None:
        """Show a tab."""
        self._app.switch_mode(tab.mode)
        self._shown(tab)

    def show_if_open(self, tab: Tab | None) -> None:
        """Show a tab, unless it was closed."""
        if tab in self._tabs:
            self.show(tab)

    def show_index(self, index: int) -> None:
        """Show the tab at an index. Does nothing if there is no such tab."""
        if 0 <= index < len(self._tabs):
            self.show(self._tabs[index])

    def show_next(self, step: int) -> None:
        """Show the next (1) or previous (-1) tab. The first one follows the last one."""
        if (current := self.current) is not None:
            self.show(self._tabs[(self._tabs.index(current) + step) % len(self._tabs)])

    def show_session(self, session: str, place: TextPlace | None) -> bool:
        """Show the tab of a recorded session. Return False if no tab has the session.

        If `place` is given, the text there is also scrolled into view and marked.
        """
        tab = next((tab for tab in self._tabs if tab.screen.shows_session(session)), None)
        if tab is not None:
            self.show(tab)
            if place is not None:
                tab.screen.show_place(place)
        return tab is not None

    async def _switch_to(self, tab: Tab) -> None:
        await self._app.switch_mode(tab.mode)
        self._shown(tab)

    def _shown(self, tab: Tab) -> None:
        tab.see()
        self._changed()

    def show_waiting(self) -> bool:
        """Show the tab that has waited longest for an answer; if none waits, one whose turn has ended unseen.

        The current tab is skipped while a dialog is open. If the tab that is shown has a question, opens the
        dialog with the question. Returns False if no tab was shown.
        """
        tab = self._next_waiting()
        if tab is not None:
            self.show(tab)
            tab.screen.answer_question()
        return tab is not None

    def _next_waiting(self) -> Tab | None:
        current = self.current
        is_answering = current is not None and self._app.screen is not current.screen  # a dialog is open
        asking = [tab for tab in self._asking() if not (is_answering and tab is current)]
        finished = [tab for tab in self._tabs if tab.mark == "done" and tab is not current]
        if asking:
            return min(asking, key=lambda tab: tab.asked_at or 0.0)
        return min(finished, key=lambda tab: tab.finished_at or 0.0, default=None)

    def _asking(self) -> list[Tab]:
        return [tab for tab in self._tabs if tab.asked_at is not None]

    def rename_session(self, session: str, name: str) -> bool:
        """Rename the recorded session with this id if a tab has the session; otherwise return False."""
        screens = [tab.screen for tab in self._tabs if tab.screen.shows_session(session)]
        for screen in screens:
            screen.rename(name)
        return bool(screens)

    def rename_current(self) -> None:
        """Let the user name the conversation in the current tab, if the conversation can be renamed."""
        from acp_tui.ui.dialogs.rename_dialog import RenameDialog

        tab = self.current
        if tab is not None and tab.screen.can_be_renamed:
            dialog = RenameDialog(tab.state.name, tab.state.title or tab.state.agent)
            tab.screen.open_dialog(dialog, lambda name: None if name is None else tab.screen.rename(name))

    # ------------------------------------------------------------------------- what the tabs report

    def update_state(self, screen: BaseScreen) -> None:
        """Pass a screen's state to its tab. Announce a new question if the tab is not in front."""
        tab = self.of_screen(screen)
        if tab is None:
            return
        was_asking, in_front = tab.asked_at is not None, tab is self.current
        tab.update(screen.tab_state, time.time(), in_front=in_front)
        is_seen = in_front or (self.current is not None and self.current.screen.shows_other_tabs)
        if tab.asked_at is not None and not was_asking and not is_seen:
            self._announce(tab)
        self._changed()

    def _announce(self, tab: Tab) -> None:
        state, number = tab.state, self._tabs.index(tab) + 1
        named = f" ({state.label})" if state.label != state.agent else ""
        question = f": {state.question}" if state.question else ""
        key = keys.bound_keys(self._app, "tab.waiting").partition(" ")[0]
        sentence = (
            f"{state.agent} in tab {number}{named} needs your answer{question}\n{key} opens the question."
        )
        self._app.notify(sentence, severity="warning", timeout=ANNOUNCEMENT_SECONDS, markup=False)

    def _changed(self) -> None:
        self.update_strip()
        if self._saved is not None:
            self._saved.save(self._tabs_to_save())

    def _tabs_to_save(self) -> list[SavedTab]:
        from acp_tui.store.open_tabs import SavedTab

        current = self.current
        return [
            SavedTab(tab.state.session, tab.state.agent, tab.state.label, active=tab is current)
            for tab in self._tabs
            if tab.state.session
        ]

    def update_strip(self) -> None:
        """Show the tabs at the top of the current screen, if there is more than one tab."""
        current = self.current
        if current is None or not current.screen.is_attached:
            return
        current.screen.show_others_asking(sum(tab is not current for tab in self._asking()))
        from acp_tui.ui.tabs.tab_strip import StripTab, TabStrip

        screen = current.screen
        shown = [StripTab(tab.state.label, tab.mark, tab.unread) for tab in self._tabs]
        strip = next(iter(screen.query(TabStrip)), None)
        if len(shown) < 2:
            if strip is not None:
                strip.remove()
        elif strip is None:
            screen.mount(TabStrip(shown, self._tabs.index(current)), before=0)
        else:
            strip.show(shown, self._tabs.index(current))

    # ------------------------------------------------------------------------- closing

    async def close_tab(self, tab: Tab) -> None:
        """Close a tab and end its agent, unless `may_close`, called with `confirm`, returns False."""
        if await self.may_close(tab, confirm=True):
            await self.remove(tab)

    async def may_close(self, tab: Tab, *, confirm: bool = False) -> bool:
        """Ask the user the questions that must be answered before a tab is closed.

        Return False if the tab must stay open, or if the user is already being asked these questions.

        `confirm`: if the agent is working, also ask whether to stop it.
        """
        if tab.is_closing:
            return False
        tab.is_closing = True
        try:
            if confirm and tab.screen.busy_reason() is not None and not await self._confirm_close(tab):
                return False
            if tab.screen.asks_before_close:
                self.show_if_open(tab)  # the dialog of `may_close` opens in this tab
            return await tab.screen.may_close()
        finally:
            tab.is_closing = False

    async def _confirm_close(self, tab: Tab) -> bool:
        from acp_tui.ui.dialogs.confirm import ConfirmScreen

        question = f"{tab.state.agent or 'The agent'} is still working. Stop it and close the tab?"
        dialog = ConfirmScreen(question, yes="Close the tab", no="Keep it open")
        confirmed = await self._app.push_screen_wait(dialog)  # over the tab that the user sees
        return confirmed is True

    async def remove(self, tab: Tab) -> None:
        """Close a tab without asking. In place of the last tab, show the launcher.

        If the app has no launcher, or the last tab is the launcher itself, end the app.
        """
        async with self._changing:
            if tab not in self._tabs:
                return
            if len(self._tabs) > 1:
                index, was_current = self._tabs.index(tab), tab is self.current
                self._tabs.remove(tab)
                if was_current:
                    await self._switch_to(self._tabs[min(index, len(self._tabs) - 1)])
                self._retire(tab.screen, tab.mode)
                self._changed()
            elif self._make_launcher is None or tab.screen.is_launcher:
                self._app.exit()
            else:
                await self._replace(tab, self._make_launcher())

    def _retire(self, screen: BaseScreen, mode: str) -> None:
        """In the background, shut down what a screen owns, then remove its mode. Agents can end slowly."""
        leaving = asyncio.create_task(self._leave(screen, close_session=True))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)
        self._app.run_worker(self._remove_mode(leaving, screen, mode))

    async def _remove_mode(self, leaving: asyncio.Task[None], screen: BaseScreen, mode: str) -> None:
        await asyncio.shield(leaving)
        await self._app.remove_mode(mode)
        gc_control.free(screen)

    async def _leave(self, screen: BaseScreen, *, close_session: bool = False) -> None:
        with contain_errors(self._app):
            await screen.leave(close_session=close_session)

    def mark_ending(self) -> None:
        """Note for the next run that this one is ending."""
        if self._saved is not None:
            self._saved.mark_ending()

    async def leave_all(self) -> None:
        """Shut down what the screens of all tabs own, also of closed tabs. Called when the app ends."""
        self.mark_ending()
        await asyncio.gather(*self._leaving, *(self._leave(tab.screen) for tab in self._tabs))
        if self._saved is not None:
            self._saved.close()


QUIT_CONFIRM_SECONDS = 3.0
"""Seconds within which a second Ctrl+Q quits although the agent is working."""


class QuitGuard:
    """Ends the app at the user's request. If necessary, the user has to confirm the request first."""

    def __init__(self, app: App[Any], tabs: Tabs) -> None:
        self._app = app
        self._tabs = tabs
        self._requested_at = -QUIT_CONFIRM_SECONDS
        self._agreed: list[Tab] = []  # to be closed, if the others may be closed as well

    def request(self) -> None:
        """Quit. While an agent works, quitting takes two requests within `QUIT_CONFIRM_SECONDS`.

        If a tab is already asking the user something before it closes, show that question instead.
        """
        asking = [tab for tab in self._tabs if tab.is_closing and tab.screen.asks_before_close]
        if asking:
            self._tabs.show(asking[0])
            return
        self.withdraw()
        now, working = time.monotonic(), len(self._tabs.working())
        if not working or now - self._requested_at < QUIT_CONFIRM_SECONDS:
            if any(tab.screen.asks_before_close for tab in self._tabs):
                self._app.run_worker(self._ask_and_quit(), group="quit", exclusive=True)
            else:
                self._app.exit()
            return
        self._requested_at = now
        key = keys.bound_keys(self._app, "app.quit")
        several = "1 agent is" if working == 1 else f"{working} agents are"
        who = several if len(self._tabs) > 1 else "The agent is"
        sentence = f"{who} still working. Press {key} again to quit."
        self._app.notify(sentence, timeout=QUIT_CONFIRM_SECONDS, markup=False)

    async def _ask_and_quit(self) -> None:
        """Ask the user the questions that must be answered before the tabs are closed, then quit.

        Do not quit if the user cancels a question.
        """
        for tab in [tab for tab in self._tabs if tab.screen.asks_before_close]:
            if not await self._tabs.may_close(tab):
                self.withdraw()
                return
            self._agreed.append(tab)
        self._agreed.clear()
        self._app.exit()

    def withdraw(self) -> None:
        """Cancel quitting: keep open all tabs whose closing the user has already confirmed."""
        for tab in self._agreed:
            tab.screen.stay_open()
        self._agreed.clear()


class RestoredScreen(BaseScreen):
    """A placeholder for the screen of a conversation. The agent is started when the tab is first shown.

    If the tab is only shown to ask about its worktree before it is closed, no agent is started.
    """

    is_placeholder = True

    def __init__(self, saved: SavedTab, make: Callable[[], BaseScreen]) -> None:
        """`make` creates the screen of the conversation."""
        super().__init__()
        self._saved = saved
        self._make = make
        self._is_asking = False
        self._is_replaced = False
        self._lock: WorktreeLock | None = None  # held from the question until the worktree is removed
        self._decision: FinishDecision | None = None
        agent, title = escape_line(saved.agent), escape_line(saved.title)
        self.tab_state = TabState(agent, title, session=saved.session)

    def on_mount(self) -> None:
        """Replace this screen with the screen of the conversation, unless a question is to be asked here."""
        self.app.mode_change_signal.subscribe(self, self._on_mode_change)
        self.post_message(self.StateChanged(self))  # shows the tab strip
        if not self._is_asking:
            self._open_conversation()

    def _on_mode_change(self, mode: str) -> None:
        if mode == self.mode and not self._is_asking:
            self._open_conversation()

    def _open_conversation(self) -> None:
        if self._is_replaced:
            return
        self._is_replaced = True
        self._forget_decision()
        screen = self._make()
        screen.tab_state = self.tab_state
        self.post_message(self.SwitchRequested(self, screen))

    def shows_session(self, session: str) -> bool:
        """Return True if the conversation is recorded under the id `session`."""
        return self._saved.session == session

    @property
    def wire_log(self) -> Path | None:
        """The log of the session, which is not opened for this."""
        return self._stored.wire

    # ------------------------------------------------------------------------- the worktree

    @cached_property
    def _stored(self) -> StoredSession:
        from acp_tui.config.paths import paths
        from acp_tui.store.stored_sessions import read_session, sessions_directory

        return read_session(sessions_directory(paths().data) / self._saved.session)

    @cached_property
    def _worktree(self) -> Worktree | None:
        from acp_tui.config.paths import paths
        from acp_tui.workspace.git.worktree import Worktree

        return Worktree.from_meta(self._stored.meta, paths().data) if self._stored.has_worktree else None

    @property
    def asks_before_close(self) -> bool:
        """True if the conversation has a worktree."""
        return self._worktree is not None and not self._is_replaced

    async def may_close(self) -> bool:
        """Ask what to do with the worktree. Return False, and open the conversation, if the tab stays open.

        The user is not asked if the worktree is unchanged or used by another conversation.
        """
        if self._worktree is None or self._is_replaced:
            return True
        self._is_asking = True
        try:
            may_close = await self._ask(self._worktree)
        except UserError as error:
            self.notify_error(error)
            may_close = True
        finally:
            self._is_asking = False
        if not may_close:
            self._open_conversation()
        return may_close

    async def _ask(self, worktree: Worktree) -> bool:
        from acp_tui.ui.screens.worktree import FinishDialogs
        from acp_tui.workspace.git.worktree import WorktreeLock
        from acp_tui.workspace.git.worktree_finishing import worktree_status

        self._forget_decision()
        self._lock = WorktreeLock(worktree.path)
        if self._lock.is_shared():
            self._forget_decision()
            return True
        proposal = escape_line(" ".join((self._stored.text("title") or "").split()))
        status = await asyncio.to_thread(worktree_status, worktree)
        self._decision = await FinishDialogs(self, worktree, proposal=proposal).ask(status)
        return self._decision is not None

    def stay_open(self) -> None:
        """Open the conversation, because the tab was shown and is not closed after all."""
        self._open_conversation()

    def _forget_decision(self) -> None:
        self._decision = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def leave(self, *, close_session: bool = False) -> None:
        """Carry out what the user decided about the worktree."""
        decision, worktree = self._decision, self._worktree
        self._forget_decision()
        if decision is None or worktree is None:
            return
        from acp_tui.ui.screens.worktree import carry_out

        self.closing_note = await asyncio.to_thread(carry_out, worktree, decision, merged=decision.merged)
        if close_session:
            self.app.notify(self.closing_note, timeout=10, markup=False)

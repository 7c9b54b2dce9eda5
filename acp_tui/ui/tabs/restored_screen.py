"""The placeholder in a tab restored from an earlier run, until the user first shows the tab."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.screens.base import BaseScreen
from acp_tui.ui.tabs.tab_state import TabState

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.store.open_tabs import SavedTab
    from acp_tui.store.stored_sessions import StoredSession
    from acp_tui.ui.screens.worktree.worktree_finish import FinishDecision
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.workspace.git.worktrees.worktree import Worktree
    from acp_tui.workspace.git.worktrees.worktree_lock import WorktreeLock


class RestoredScreen(BaseScreen):
    """A placeholder for the screen of a conversation. The agent is started when the tab is first shown.

    If the tab is only shown to ask about its worktree before it is closed, no agent is started.
    """

    is_placeholder = True

    def __init__(self, palette: Palette, saved: SavedTab, make: Callable[[Palette], BaseScreen]) -> None:
        """`make` creates the screen of the conversation."""
        super().__init__(palette)
        self._saved = saved
        self._make = make
        self._is_asking = False
        self._is_replaced = False
        self._lock: WorktreeLock | None = None  # held from the question until the worktree is removed
        self._decision: FinishDecision | None = None
        agent, title = visible_line(saved.agent), visible_line(saved.title)
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
        screen = self._make(self.palette)
        screen.tab_state = self.tab_state
        self.post_message(self.SwitchRequested(self, screen))

    def shows_session(self, session: str) -> bool:
        """Return True if the conversation is recorded under the id `session`."""
        return self._saved.session == session

    # ------------------------------------------------------------------------- the worktree

    @cached_property
    def _stored(self) -> StoredSession:
        from acp_tui.config.paths import paths
        from acp_tui.store.stored_sessions import read_session, sessions_directory

        return read_session(sessions_directory(paths().data) / self._saved.session)

    @cached_property
    def _worktree(self) -> Worktree | None:
        from acp_tui.config.paths import paths
        from acp_tui.workspace.git.worktrees.worktree import Worktree

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
        from acp_tui.ui.screens.worktree.worktree_finish import FinishDialogs
        from acp_tui.workspace.git.worktrees.unmerged_work import worktree_status
        from acp_tui.workspace.git.worktrees.worktree_lock import WorktreeLock

        self._forget_decision()
        self._lock = WorktreeLock(worktree.path)
        if self._lock.is_shared():
            self._forget_decision()
            return True
        proposal = visible_line(" ".join((self._stored.text("title") or "").split()))
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
        from acp_tui.ui.screens.worktree.worktree_finish import carry_out

        self.closing_note = await asyncio.to_thread(carry_out, worktree, decision, merged=decision.merged)
        if close_session:
            self.app.notify(self.closing_note, timeout=10, markup=False)

"""Keeps, merges or discards the worktree of a conversation when the conversation is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.ui.keys.commands import PaletteCommand

if TYPE_CHECKING:
    from acp_tui.ui.conversation.runner import ConversationRunner, PreparedConversation
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.screens.worktree import FinishDecision
    from acp_tui.workspace.git.worktree import Worktree
    from acp_tui.workspace.git.worktree_finishing import WorktreeStatus


class WorktreeFinish:
    """Asks whether to keep, merge or discard the worktree, and carries out the answer.

    The worktree is removed only after the agent has ended, and only if nothing has changed since the answer.
    """

    def __init__(self, screen: SessionScreen, runner: ConversationRunner) -> None:
        self._screen = screen
        self._runner = runner
        self._decision: FinishDecision | None = None
        self._closing = False  # the user has just answered; do not ask again
        self._merged = ""  # says what was merged

    def commands(self) -> Iterator[PaletteCommand]:
        """Yield the command that finishes the worktree, for the command palette."""
        if self.exists:
            yield PaletteCommand(
                "Finish worktree", self._start_command, "Session", word="merge keep discard branch"
            )

    @property
    def exists(self) -> bool:
        """Whether the conversation works in a worktree."""
        return self._worktree is not None

    @property
    def _worktree(self) -> Worktree | None:
        conversation = self._runner.conversation
        return conversation.options.worktree if conversation is not None else None

    # ------------------------------------------------------------------------- asking

    def _start_command(self) -> None:
        if reason := self._screen.busy_reason():
            self._screen.notify(reason, markup=False)
        else:
            self._screen.run_worker(self._finish_by_command(), group="worktree", exclusive=True)

    async def _finish_by_command(self) -> None:
        """Ask what to do with the worktree, and close the conversation unless the worktree is kept.

        If the worktree is unchanged or used by another conversation, only say so.
        """
        from acp_tui.ui.screens.worktree import current_status

        worktree, prepared = self._worktree, self._runner.prepared
        if worktree is not None:
            with suppress(UserError):  # reported by `may_close`
                if (await asyncio.to_thread(current_status, worktree)).is_unchanged:
                    self._screen.notify("Nothing has changed in the worktree yet.", markup=False)
                    return
        if prepared is not None and _is_shared(prepared):
            sentence = "Another conversation works in this worktree. Close that one first."
            self._screen.notify(sentence, markup=False)
            return
        if await self.may_close() and self._decision is not None and self._decision.to_remove is not None:
            self._closing = True
            self._screen.post_message(self._screen.CloseRequested(self._screen))

    async def may_close(self) -> bool:
        """Ask what to do with the worktree, and return False if the conversation should stay open.

        A running turn is stopped before the question. The user is not asked if the worktree is unchanged or
        used by another conversation, or if the user has just answered `_finish_by_command`.
        """
        from acp_tui.ui.screens.worktree import current_status

        worktree, prepared = self._worktree, self._runner.prepared
        if self._closing or worktree is None or prepared is None:
            self._closing = False
            return True
        if _is_shared(prepared):
            return True
        self.forget_decision()
        if self._screen.session.working:
            self._runner.stop_turn()
        try:
            return await self._ask(worktree, await asyncio.to_thread(current_status, worktree))
        except UserError as error:  # the worktree is kept unless `after_close` finds it unchanged
            self._screen.notify_error(error)
            return True

    def discard(self, status: WorktreeStatus, merged: str) -> None:
        """Remove the worktree when the conversation is closed, if the worktree still has this status."""
        from acp_tui.ui.screens.worktree import FinishDecision

        self._decision = FinishDecision(status, merged)
        self._merged = merged

    def forget_decision(self) -> None:
        """Forget the user's answer. Until the next one, only an unchanged worktree is removed."""
        self._decision = None

    async def _ask(self, worktree: Worktree, status: WorktreeStatus) -> bool:
        from acp_tui.ui.screens.worktree import FinishDialogs

        proposal = escape_line(" ".join((self._screen.session.title or "").split()))
        decision = await FinishDialogs(self._screen, worktree, proposal=proposal).ask(status)
        if decision is None:
            return False
        self._decision = decision
        self._merged = decision.merged or self._merged
        return True

    # ------------------------------------------------------------------------- after the end

    async def after_close(self, *, notify: bool) -> None:
        """Remove the worktree if the user chose to, or if it is unchanged and the user chose nothing.

        The agent must have ended. The worktree is kept if it has changed since the choice. `closing_notes`
        gets a sentence that says what was done; with `notify`, a toast also shows the sentence. A worktree
        that another conversation uses is kept without a sentence.
        """
        from acp_tui.ui.screens.worktree import carry_out

        worktree, prepared = self._worktree, self._runner.prepared
        if worktree is None or prepared is None:
            return
        shared = _is_shared(prepared)
        if prepared.worktree_lock is not None:
            prepared.worktree_lock.release()
        if shared:
            return
        sentence = await asyncio.to_thread(carry_out, worktree, self._decision, merged=self._merged)
        prepared.closing_notes.append(sentence)
        if notify:
            self._screen.app.notify(sentence, timeout=10, markup=False)


def _is_shared(prepared: PreparedConversation) -> bool:
    """Return True if another conversation uses the worktree. Only the last conversation asks the user."""
    lock = prepared.worktree_lock
    return prepared.worktree_passed_on or (lock is not None and lock.is_shared())

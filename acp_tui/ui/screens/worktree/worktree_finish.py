"""Keeps, merges or discards the worktree of a conversation when the conversation is closed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.console.quantities import pluralize
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.keys.palette_command import PaletteCommand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.ui.conversation.interfaces import PreparedConversation
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.screens.worktree.finish_question import Action
    from acp_tui.workspace.git.worktrees.unmerged_work import WorktreeStatus
    from acp_tui.workspace.git.worktrees.worktree import Worktree

MAX_LISTED = 6
"""The maximum number of files that the dialog for the commit message names."""
MAX_OUTPUT_LINES = 100
"""The maximum number of lines that are shown of the output of git and its hooks."""


class WorktreeFinish:
    """Asks whether to keep, merge or discard the worktree, and carries out the answer.

    The worktree is removed only after the agent has ended, and only if nothing has changed since the answer.
    """

    def __init__(self, screen: BaseScreen, runner: ConversationRunner, context: SessionContext) -> None:
        self._screen = screen
        self._runner = runner
        self._context = context
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
        worktree, prepared = self._worktree, self._runner.prepared
        if worktree is not None:
            with suppress(UserError):  # reported by `may_close`
                if (await asyncio.to_thread(_status, worktree)).is_unchanged:
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
        worktree, prepared = self._worktree, self._runner.prepared
        if self._closing or worktree is None or prepared is None:
            self._closing = False
            return True
        if _is_shared(prepared):
            return True
        self.forget_decision()
        if self._context.session.working:
            self._runner.stop_turn()
        try:
            return await self._ask(worktree, await asyncio.to_thread(_status, worktree))
        except UserError as error:  # the worktree is kept unless `after_close` finds it unchanged
            self._screen.notify_error(error)
            return True

    def forget_decision(self) -> None:
        """Forget the user's answer. Until the next one, only an unchanged worktree is removed."""
        self._decision = None

    async def _ask(self, worktree: Worktree, status: WorktreeStatus) -> bool:
        proposal = visible_line(" ".join((self._context.session.title or "").split()))
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


class FinishDecision(NamedTuple):
    """What the user chose to do with a worktree, and what has been done."""

    to_remove: WorktreeStatus | None  # remove the worktree if it still has this status; None: keep it
    merged: str = ""  # says what was merged


def carry_out(worktree: Worktree, decision: FinishDecision | None, *, merged: str = "") -> str:
    """Remove a worktree, or keep it. Return a sentence that says what was done. Blocks.

    Without a decision, only an unchanged worktree is removed. `merged` says what was merged so far.
    """
    from acp_tui.workspace.git.worktrees.finishing import remove_worktree

    kept = f"The worktree on the branch {worktree.branch} was kept ({worktree.path})."
    try:
        status = _status(worktree)
        to_remove = decision.to_remove if decision is not None else status if status.is_unchanged else None
        if to_remove is None:
            return kept
        if to_remove != status:
            return f"{merged} {kept} It has changed since you were asked.".strip()
        was_chosen = decision is not None and (bool(decision.merged) or not status.is_unchanged)
        remove_worktree(worktree, finished=was_chosen)
    except UserError as error:
        return f"{merged} {error} {kept}".strip()
    if merged:
        return f"{merged} The worktree was removed."
    unchanged = " Nothing had changed in it." if status.is_unchanged else ""
    return f"The worktree on the branch {worktree.branch} was removed.{unchanged}"


class FinishDialogs:
    """The dialogs that ask whether to keep, merge or discard a worktree. A merge is done at once."""

    def __init__(
        self, screen: BaseScreen, worktree: Worktree, *, proposal: str = "", is_open: bool = True
    ) -> None:
        """Create the dialogs.

        Args:
            screen: The screen below the dialogs.
            worktree: The worktree.
            proposal: The commit message that is proposed.
            is_open: Whether a conversation is open in the worktree, which ends with it.
        """
        self._screen = screen
        self._worktree = worktree
        self._proposal = proposal
        self._is_open = is_open

    async def ask(self, status: WorktreeStatus) -> FinishDecision | None:
        """Ask until the user decides. Return None if the user closes the dialog. Raises `UserError`.

        A worktree that is unchanged is to be removed without a question.
        """
        from acp_tui.ui.screens.dialogs.guarded_question import GuardedQuestionScreen
        from acp_tui.ui.screens.worktree.finish_question import finish_question

        problem, output = "", list[str]()
        while not status.is_unchanged:
            question = finish_question(
                self._worktree, status, problem=problem, git_output=output, is_open=self._is_open
            )
            index = await self._screen.ask(GuardedQuestionScreen(question, self._screen.palette))
            problem, output = "", []
            if index is None:
                return None
            action = question.answers[index].action
            if action == "keep":
                return FinishDecision(None)
            if action == "discard":
                if await self.confirm_discard(status):
                    return FinishDecision(status)
                continue
            try:
                if merged := await self._merge(status, action):
                    return FinishDecision(await asyncio.to_thread(_status, self._worktree), merged)
            except UserError as error:
                problem, output = str(error), _output_lines(error)
                status = await asyncio.to_thread(_status, self._worktree)
        return FinishDecision(status)

    async def confirm_discard(self, status: WorktreeStatus) -> bool:
        """Ask whether to delete everything in the worktree, which must not be unchanged."""
        from acp_tui.ui.screens.dialogs.guarded_question import GuardedQuestionScreen
        from acp_tui.ui.screens.worktree.finish_question import discard_question

        question = discard_question(self._worktree, status)
        index = await self._screen.ask(GuardedQuestionScreen(question, self._screen.palette))
        return index is not None and question.answers[index].action == "discard"

    async def _merge(self, status: WorktreeStatus, action: Action) -> str:
        """Ask for the commit message, if there is a commit to make, and merge.

        Return a sentence that says what was merged; an empty string if the user cancelled.
        """
        from acp_tui.workspace.git.worktrees.finishing import MergePlan, merge_worktree

        message = ""
        if status.is_dirty or action == "squash":
            answer = await self._ask_message(status, action)
            if answer is None:
                return ""
            message = answer
        self._screen.notify(f"Merging into {self._worktree.target} …", timeout=3, markup=False)
        plan = MergePlan(squash=action == "squash", message=message)
        return await asyncio.to_thread(merge_worktree, self._worktree, plan, status)

    async def _ask_message(self, status: WorktreeStatus, action: Action) -> str | None:
        from acp_tui.ui.screens.worktree.commit_message import CommitMessageDialog

        title = f"Merge into {self._worktree.target}"
        summary = _commit_summary(status, squash=action == "squash")
        return await self._screen.ask(
            CommitMessageDialog(title, summary, self._proposal, self._screen.palette)
        )


def _status(worktree: Worktree) -> WorktreeStatus:
    from acp_tui.workspace.git.worktrees.unmerged_work import worktree_status

    return worktree_status(worktree)


def _is_shared(prepared: PreparedConversation) -> bool:
    """Return True if another conversation uses the worktree. Only the last conversation asks the user."""
    lock = prepared.worktree_lock
    return prepared.worktree_passed_on or (lock is not None and lock.is_shared())


def _commit_summary(status: WorktreeStatus, *, squash: bool) -> str:
    """Return a sentence that says what will be committed."""
    from acp_tui.ui.screens.worktree.finish_question import committed_files

    files = committed_files(status)
    more = f" and {len(files) - MAX_LISTED} more" if len(files) > MAX_LISTED else ""
    names = f"{pluralize(len(files), 'file')}: {', '.join(files[:MAX_LISTED])}{more}" if files else ""
    if not squash:
        return f"Commits {names}"
    commits = pluralize(len(status.commits), "commit") if status.commits else ""
    return f"Makes one commit of {' and '.join(part for part in (commits, names) if part)}"


def _output_lines(error: UserError) -> list[str]:
    """Return the last lines that git and its hooks printed, if these lines say more than the error itself."""
    output = str(getattr(error, "output", ""))
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-MAX_OUTPUT_LINES:] if len(lines) > 1 or (lines and lines[0] not in str(error)) else []

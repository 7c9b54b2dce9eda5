"""Deletes, merges or discards the git worktrees of sessions that are not open, after asking the user."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.console.quantities import pluralize
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.stored_sessions import list_sessions
from acp_tui.ui.screens.worktree.worktree_finish import FinishDialogs
from acp_tui.workspace.git.worktrees.finishing import remove_worktree
from acp_tui.workspace.git.worktrees.unmerged_work import worktree_status
from acp_tui.workspace.git.worktrees.worktree import Worktree
from acp_tui.workspace.git.worktrees.worktree_lock import WorktreeLock
from acp_tui.workspace.git.worktrees.worktree_record import save_missing_record

if TYPE_CHECKING:
    from acp_tui.store.stored_sessions import StoredSession
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.workspace.git.worktrees.unmerged_work import WorktreeStatus


async def offer_to_remove_worktree(screen: BaseScreen, deleted: StoredSession) -> None:
    """Ask whether to delete the worktree of a deleted session, and do what was chosen. Raises `UserError`.

    A worktree that another recorded session uses is kept without a question.
    """
    worktree = Worktree.from_meta(deleted.meta, paths().data)
    if worktree is None or await asyncio.to_thread(_is_used, worktree):
        return
    await asyncio.to_thread(save_missing_record, worktree)
    status = await asyncio.to_thread(worktree_status, worktree)
    question = "Also delete the session's git worktree and its branch?"
    if await _confirm(screen, question, worktree, _losses(status)):
        await _remove(worktree, status)


async def finish_worktree(screen: BaseScreen, worktree: Worktree) -> str:
    """Ask whether to keep, merge or discard a worktree, and do so. Raises `UserError`.

    Return a sentence that says what was done; an empty string if nothing was.
    """
    _require_unused(worktree)
    status = await asyncio.to_thread(worktree_status, worktree)
    if status.is_unchanged:
        return await discard_worktree(screen, worktree)
    decision = await FinishDialogs(screen, worktree, is_open=False).ask(status)
    if decision is None or decision.to_remove is None:
        return ""
    try:
        await _remove(worktree, decision.to_remove)
    except UserError as error:
        raise UserError(f"{decision.merged} {error}".strip()) from error
    return f"{decision.merged} {_removed(worktree)}".strip()


async def discard_worktree(screen: BaseScreen, worktree: Worktree) -> str:
    """Delete a worktree and its branch after a question that names what is lost. Raises `UserError`.

    Return a sentence that says what was done; an empty string if nothing was.
    """
    _require_unused(worktree)
    question = "Delete this git worktree and its branch?"
    if not worktree.repository.is_dir():
        losses = "Its repository is gone. Everything in the folder would be lost."
        if not await _confirm(screen, question, worktree, losses):
            return ""
        await asyncio.to_thread(remove_worktree, worktree)
        return _removed(worktree)
    status = await asyncio.to_thread(worktree_status, worktree)
    if status.is_unchanged:
        confirmed = await _confirm(screen, question, worktree, _losses(status))
    else:
        confirmed = await FinishDialogs(screen, worktree, is_open=False).confirm_discard(status)
    if not confirmed:
        return ""
    await _remove(worktree, status)
    return _removed(worktree)


async def _confirm(screen: BaseScreen, question: str, worktree: Worktree, losses: str) -> bool:
    from acp_tui.ui.screens.dialogs.confirm import ConfirmScreen

    where = f"{visible_line(str(worktree.path))} · {visible_line(worktree.branch)}"
    text = f"{question}\n\n{where}\n\n{losses}"
    dialog = ConfirmScreen(text, screen.palette, yes="Delete the worktree", no="Keep it")
    return await screen.ask(dialog) is True


async def _remove(worktree: Worktree, shown: WorktreeStatus) -> None:
    """Remove a worktree unless it has changed since its status was shown. Raises `UserError`."""
    if await asyncio.to_thread(worktree_status, worktree) != shown:
        raise UserError("The worktree was kept: it has changed since you were asked.")
    await asyncio.to_thread(remove_worktree, worktree)


def _removed(worktree: Worktree) -> str:
    return f"The worktree on the branch {visible_line(worktree.branch)} was removed."


def _require_unused(worktree: Worktree) -> None:
    """Raise `UserError` if a conversation works in the worktree."""
    lock = WorktreeLock(worktree.path)
    try:
        if lock.is_shared():
            raise UserError("A conversation works in this worktree. Close that one first.")
    finally:
        lock.release()


def _is_used(worktree: Worktree) -> bool:
    return any(
        Worktree.from_meta(session.meta, paths().data) == worktree for session in list_sessions(paths().data)
    )


def _losses(status: WorktreeStatus) -> str:
    counts = [
        (len(status.commits), "commit"),
        (len(status.changed), "changed file"),
        (len(status.untracked), "untracked file"),
        (len(status.ignored), "ignored file"),
    ]
    losses = [pluralize(count, name) for count, name in counts if count]
    return f"This would be lost: {', '.join(losses)}." if losses else "Nothing would be lost."

"""Asks whether the git worktree of a deleted session should be deleted as well."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.console.quantities import pluralize
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.stored_sessions import list_sessions
from acp_tui.workspace.git.worktrees.finishing import remove_worktree
from acp_tui.workspace.git.worktrees.unmerged_work import worktree_status
from acp_tui.workspace.git.worktrees.worktree import Worktree

if TYPE_CHECKING:
    from acp_tui.store.stored_sessions import StoredSession
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.workspace.git.worktrees.unmerged_work import WorktreeStatus


async def offer_to_remove_worktree(screen: BaseScreen, deleted: StoredSession) -> None:
    """Ask whether to delete the worktree of a deleted session, and do what was chosen. Raises `UserError`.

    A worktree that another recorded session uses is kept without a question.
    """
    from acp_tui.ui.screens.dialogs.confirm import ConfirmScreen

    worktree = Worktree.from_meta(deleted.meta, paths().data)
    if worktree is None or await asyncio.to_thread(_is_used, worktree):
        return
    status = await asyncio.to_thread(worktree_status, worktree)
    question = (
        "Also delete the session's git worktree and its branch?\n\n"
        f"{visible_line(str(worktree.path))} · {visible_line(worktree.branch)}\n\n{_losses(status)}"
    )
    dialog = ConfirmScreen(question, screen.palette, yes="Delete the worktree", no="Keep it")
    if await screen.ask(dialog):
        if await asyncio.to_thread(worktree_status, worktree) != status:
            raise UserError("The worktree was kept: it has changed since you were asked.")
        await asyncio.to_thread(remove_worktree, worktree)


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

"""Merges the worktree of a conversation into the user's branch, or removes the worktree.

`acp_tui/ui/screens/worktree/worktree_finish.py` asks the user whether to merge or to remove.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.console.quantities import pluralize
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.stored_sessions import FINISHED, list_sessions, save_meta
from acp_tui.workspace.git.git_commands import GitCommandError, UserGit
from acp_tui.workspace.git.worktrees.unmerged_work import worktree_status
from acp_tui.workspace.git.worktrees.worktree import META_FIELD
from acp_tui.workspace.git.worktrees.worktree_lock import WorktreeLock
from acp_tui.workspace.git.worktrees.worktree_record import delete_record

if TYPE_CHECKING:
    from acp_tui.workspace.git.worktrees.unmerged_work import WorktreeStatus
    from acp_tui.workspace.git.worktrees.worktree import Worktree

MAX_NAMES = 5
"""The maximum number of conflicting files to name in a sentence."""


@dataclass(frozen=True, slots=True)
class MergePlan:
    """How to merge a worktree."""

    squash: bool  # into one commit; otherwise by a fast-forward, which keeps all commits
    message: str = ""  # of the new commit; unused if there are only commits to fast-forward to


class ChangedMeanwhileError(UserError):
    """The worktree or its target branch has changed since the worktree's status was shown to the user."""


def merge_worktree(worktree: Worktree, plan: MergePlan, shown: WorktreeStatus) -> str:
    """Merge the worktree into its target branch, and return what was done, as a sentence. Blocks.

    Uncommitted files are committed first. The user's hooks and settings apply. If anything fails, the target
    branch and its checkout stay as they were.

    Args:
        worktree: The worktree. It is not removed.
        plan: How to merge.
        shown: The status that the user has seen.

    Raises:
        ChangedMeanwhileError: The worktree or its target branch differs from what the user has seen.
        GitCommandError: Git or a hook refused; `output` says why.
        UserError: The worktree cannot be merged, or its changes conflict with those of the target.
    """
    status = worktree_status(worktree)
    if status != shown:
        raise ChangedMeanwhileError("The worktree has changed in the meantime. Check the updated list.")
    if status.obstacle:
        raise UserError(status.obstacle)
    if status.behind and not plan.squash:
        raise UserError(f"{worktree.target} has new commits. Merge the worktree as one commit instead.")
    git = UserGit.of_worktree(worktree.path, worktree.repository, trusted=worktree.trusted)
    if git is None:
        raise UserError("The worktree is gone.")
    if status.is_dirty:
        _commit_all(git, plan)
    count = len(status.commits) + status.is_dirty
    try:
        if plan.squash:
            count = int(_squash(git, worktree, plan.message))
        _advance(git, worktree)
        with suppress(GitCommandError):
            git.reset_branch(worktree.branch)  # at HEAD, which is the target now
    except UserError:
        _go_back(git, worktree, status)
        raise
    if not count:
        return f"Nothing to merge: {worktree.target} already contains these changes."
    return f"Merged {'one commit' if plan.squash else pluralize(count, 'commit')} into {worktree.target}."


def remove_worktree(worktree: Worktree, *, finished: bool = True) -> None:
    """Delete the worktree with everything in it, and its branch unless git refuses that. Blocks.

    `worktree_status` returns what would be lost. Raises `UserError`, for example if another conversation
    works in the worktree.

    `finished`: whether the user merged or discarded it, so that `--continue` no longer opens its sessions.
    """
    lock = WorktreeLock(worktree.path)
    try:
        if lock.is_shared():
            raise UserError(f"Another conversation is using the worktree {worktree.path}.")
        _remove(worktree)
    finally:
        lock.release()
    if finished:
        _mark_sessions(worktree)


def _mark_sessions(worktree: Worktree) -> None:
    """Note in the sessions of a worktree that the user has finished it. Resuming one removes the note."""
    for session in list_sessions(paths().data):
        saved = session.meta.get(META_FIELD)
        if isinstance(saved, dict) and saved.get("path") == str(worktree.path):
            with suppress(OSError):
                save_meta(session, **{META_FIELD: saved | {FINISHED: True}})


def _remove(worktree: Worktree) -> None:
    if not worktree.repository.is_dir():
        shutil.rmtree(worktree.path, ignore_errors=True)
        delete_record(worktree)
        return
    git = UserGit(worktree.repository, trusted=worktree.trusted)
    if worktree.path.exists():
        git.remove_worktree(worktree.path)
    else:
        git.prune_worktrees()
    delete_record(worktree)
    with suppress(GitCommandError):  # it was renamed, or is checked out in another worktree
        git.delete_branch(worktree.branch)
    with suppress(OSError):  # not empty if the repository has other worktrees
        worktree.path.parent.rmdir()


# --------------------------------------------------------------------------- merging


def _commit_all(git: UserGit, plan: MergePlan) -> None:
    """Commit everything that is not ignored. Run no hooks if the commit will be squashed anyway."""
    git.stage_all_as_user()
    try:
        if plan.squash:
            git.commit_without_hooks_as_user("Uncommitted changes")
        else:
            _commit(git, plan.message)
    except GitCommandError:
        with suppress(GitCommandError):
            git.unstage_all()
        raise


def _commit(git: UserGit, message: str) -> None:
    try:
        git.commit_as_user(message)
    except GitCommandError as error:
        raise GitCommandError("The commit was refused, so nothing was merged.", error.output) from None


def _squash(git: UserGit, worktree: Worktree, message: str) -> bool:
    """Commit all changes of the branch as one commit on top of the target. Leave that commit checked out.

    Return False if there is nothing to commit, because the target already contains the changes.
    """
    git.detach_as_user(worktree.target)
    try:
        git.squash_as_user(worktree.branch)
    except GitCommandError:
        if names := git.conflicting_files():
            raise UserError(_conflict_sentence(worktree, names)) from None
        raise
    if not git.has_staged_changes():
        return False
    _commit(git, message)
    return True


def _conflict_sentence(worktree: Worktree, names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    listed = visible_line(", ".join(names[:MAX_NAMES])) + more
    return (
        f"Nothing was merged: both branches have changed the same lines of {listed}. "
        f"Have the agent merge {worktree.target} into {worktree.branch}, or do so yourself, and try again."
    )


def _advance(git: UserGit, worktree: Worktree) -> None:
    """Fast-forward the target branch, and its checkout if there is one, to the worktree's HEAD."""
    head = git.commit_id("HEAD")
    checkout = git.checkout_of(worktree.target)
    try:
        if checkout is None:
            _require_descendant(git, worktree.target)
            git.move_branch_as_user(worktree.target, head)
        else:
            UserGit(checkout).fast_forward_as_user(head)
    except GitCommandError as error:
        where = f" in {checkout}" if checkout is not None else ""
        raise GitCommandError(f"{worktree.target} was not changed{where}: {error}", error.output) from None


def _require_descendant(git: UserGit, target: str) -> None:
    if not git.is_ancestor_of_head(target):
        raise GitCommandError("it has new commits.")


def _go_back(git: UserGit, worktree: Worktree, status: WorktreeStatus) -> None:
    """Undo what a failed merge did to the worktree, including the commit of uncommitted files."""
    with suppress(GitCommandError):
        git.switch_back(worktree.branch)
    with suppress(GitCommandError):
        git.move_head(status.head)  # keeps the files, and undoes the commit

"""Merges the worktree of a conversation into the user's branch, or removes the worktree.

`acp_tui/ui/screens/worktree/worktree_finish.py` asks the user whether to merge or to remove.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.console.quantities import pluralize
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.workspace.git.worktrees.unmerged_work import worktree_status
from acp_tui.workspace.git.worktrees.user_git import GitCommandError, UserGit
from acp_tui.workspace.git.worktrees.worktree_lock import WorktreeLock

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
    git = UserGit(worktree.path, trusted=worktree.trusted)
    if status.is_dirty:
        _commit_all(git, plan)
    count = len(status.commits) + status.is_dirty
    try:
        if plan.squash:
            count = int(_squash(git, worktree, plan.message))
        _advance(git, worktree)
        git.succeeds("checkout", "--quiet", "-B", worktree.branch)  # at HEAD, which is the target now
    except UserError:
        _go_back(git, worktree, status)
        raise
    if not count:
        return f"Nothing to merge: {worktree.target} already contains these changes."
    return f"Merged {'one commit' if plan.squash else pluralize(count, 'commit')} into {worktree.target}."


def remove_worktree(worktree: Worktree) -> None:
    """Delete the worktree with everything in it, and its branch unless git refuses that. Blocks.

    `worktree_status` returns what would be lost. Raises `UserError`, for example if another conversation
    works in the worktree.
    """
    lock = WorktreeLock(worktree.path)
    try:
        if lock.is_shared():
            raise UserError(f"Another conversation is using the worktree {worktree.path}.")
        _remove(worktree)
    finally:
        lock.release()


def _remove(worktree: Worktree) -> None:
    if not worktree.repository.is_dir():
        shutil.rmtree(worktree.path, ignore_errors=True)
        return
    git = UserGit(worktree.repository, trusted=worktree.trusted)
    if worktree.path.exists():
        git.guarded("worktree", "remove", "--force", "--force", str(worktree.path))
    else:
        git.guarded("worktree", "prune")
    with suppress(GitCommandError):  # it was renamed, or is checked out in another worktree
        git.guarded("branch", "--delete", "--force", worktree.branch)
    with suppress(OSError):  # not empty if the repository has other worktrees
        worktree.path.parent.rmdir()


# --------------------------------------------------------------------------- merging


def _commit_all(git: UserGit, plan: MergePlan) -> None:
    """Commit everything that is not ignored. Run no hooks if the commit will be squashed anyway."""
    git.as_user("add", "--all")
    try:
        if plan.squash:
            words = ["commit", "--quiet", "--no-gpg-sign", "--no-verify", "--message=Uncommitted changes"]
            git.as_user(*words, hooks=False)
        else:
            _commit(git, plan.message)
    except GitCommandError:
        git.succeeds("reset", "--quiet")
        raise


def _commit(git: UserGit, message: str) -> None:
    words = ["commit", "--quiet", "--cleanup=whitespace", "--file=-"]
    try:
        git.as_user(*words, stdin=message.encode())
    except GitCommandError as error:
        raise GitCommandError("The commit was refused, so nothing was merged.", error.output) from None


def _squash(git: UserGit, worktree: Worktree, message: str) -> bool:
    """Commit all changes of the branch as one commit on top of the target. Leave that commit checked out.

    Return False if there is nothing to commit, because the target already contains the changes.
    """
    words = ["checkout", "--quiet", "--no-overwrite-ignore", "--detach", f"refs/heads/{worktree.target}"]
    git.as_user(*words, hooks=False)
    try:
        git.as_user("merge", "--squash", "--quiet", f"refs/heads/{worktree.branch}", hooks=False)
    except GitCommandError:
        if names := _conflicting_files(git):
            raise UserError(_conflict_sentence(worktree, names)) from None
        raise
    if git.succeeds("diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv"):
        return False
    _commit(git, message)
    return True


def _conflicting_files(git: UserGit) -> list[str]:
    output = git.guarded("diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff", "--no-textconv")
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _conflict_sentence(worktree: Worktree, names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    listed = visible_line(", ".join(names[:MAX_NAMES])) + more
    return (
        f"Nothing was merged: both branches have changed the same lines of {listed}. "
        f"Have the agent merge {worktree.target} into {worktree.branch}, or do so yourself, and try again."
    )


def _advance(git: UserGit, worktree: Worktree) -> None:
    """Fast-forward the target branch, and its checkout if there is one, to the worktree's HEAD."""
    head = git.line("rev-parse", "HEAD")
    checkout = _checkout_of(git, worktree.target)
    try:
        if checkout is None:
            _require_descendant(git, worktree.target)
            git.as_user("branch", "--force", worktree.target, head)
        else:
            UserGit(checkout).as_user("merge", "--ff-only", "--no-overwrite-ignore", "--quiet", head)
    except GitCommandError as error:
        where = f" in {checkout}" if checkout is not None else ""
        raise GitCommandError(f"{worktree.target} was not changed{where}: {error}", error.output) from None


def _require_descendant(git: UserGit, target: str) -> None:
    if not git.succeeds("merge-base", "--is-ancestor", f"refs/heads/{target}", "HEAD"):
        raise GitCommandError("it has new commits.")


def _checkout_of(git: UserGit, branch: str) -> Path | None:
    """Return the folder in which a branch is checked out; None if there is no such folder."""
    folder = None
    for line in git.guarded("worktree", "list", "--porcelain").splitlines():
        if line.startswith(b"worktree "):
            folder = Path(os.fsdecode(line.removeprefix(b"worktree ")))
        elif line == b"branch refs/heads/" + os.fsencode(branch):
            return folder
    return None


def _go_back(git: UserGit, worktree: Worktree, status: WorktreeStatus) -> None:
    """Undo what a failed merge did to the worktree, including the commit of uncommitted files."""
    git.succeeds("checkout", "--quiet", "--force", worktree.branch)
    git.succeeds("reset", "--quiet", status.head)  # keeps the files, and undoes the commit

"""Merges the worktree of a conversation into the user's branch, or removes the worktree.

`acp_tui/ui/screens/worktree.py` asks the user whether to merge or to remove.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from acp_tui.config.paths import paths
from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.store.stored_sessions import FINISHED, list_sessions, save_meta
from acp_tui.workspace.git.git_commands import GitCommandError, UserGit
from acp_tui.workspace.git.worktree import META_FIELD, Worktree, WorktreeLock, delete_record

MAX_COMMITS = 1000
"""The maximum number of commits to list."""
MAX_NAMES = 5
"""The maximum number of conflicting files to name in a sentence."""


@dataclass(frozen=True, slots=True)
class WorktreeStatus:
    """The commits in a worktree that the target lacks, and the uncommitted files.

    File names and commit titles are safe to display.
    """

    head: str = ""  # the id of the commit that is checked out; empty: the folder is gone
    target: str = ""  # the id of the commit that the target branch points to; empty: there is no such branch
    commits: tuple[str, ...] = ()  # that the target does not have: short ids and titles, newest first
    behind: int = 0  # the number of commits that the target has and the worktree has not
    changed: tuple[str, ...] = ()  # tracked files with uncommitted changes
    untracked: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # files, and folders with a slash at the end
    obstacle: str = ""  # why it cannot be merged, in a sentence
    fingerprint: str = ""  # differs after any change of a file that is not ignored

    @property
    def is_unchanged(self) -> bool:
        """Whether the target has all commits, and no file is changed, untracked or ignored."""
        return not (self.commits or self.changed or self.untracked or self.ignored)

    @property
    def is_dirty(self) -> bool:
        """Whether there are changed or untracked files to commit."""
        return bool(self.changed or self.untracked)

    def has_same_work(self, other: WorktreeStatus) -> bool:
        """Return True if the worktree holds the same as in `other`, wherever the target branch is."""
        mine = replace(self, target=other.target, behind=other.behind, obstacle=other.obstacle)
        return mine == other

    @property
    def is_mergeable(self) -> bool:
        """Whether there is something to merge, and no obstacle is known."""
        return bool((self.commits or self.is_dirty) and not self.obstacle)


def worktree_status(worktree: Worktree) -> WorktreeStatus:
    """Return the commits that the target lacks, and the uncommitted files. Blocks. Raises `UserError`.

    If the worktree's folder is gone, the result lists the branch's commits but no files.
    """
    inside = UserGit.of_worktree(worktree.path, worktree.repository, trusted=worktree.trusted)
    exists = inside is not None and worktree.path.is_dir()
    git = inside if inside is not None and exists else UserGit(worktree.repository, trusted=worktree.trusted)
    branch = git.branch_commit(worktree.branch)
    target = git.branch_commit(worktree.target) if worktree.target else ""
    if not exists:
        commits = _commits(git, worktree, target, branch)
        return WorktreeStatus(target=target, commits=commits, obstacle="The folder of the worktree is gone.")
    head = git.commit_id("HEAD")
    changed, untracked, ignored, dirty = [], [], [], []
    conflicts = False
    for state, path in git.status():
        name = escape_line(path)
        if state != b"!!":
            dirty.append(path)
        if state == b"??":
            untracked.append(name)
        elif state == b"!!":
            ignored.append(name)
        else:
            changed.append(name)
            conflicts = conflicts or b"U" in state or state in (b"AA", b"DD")
    behind = git.count_commits(target, head) if target else 0
    return WorktreeStatus(
        head=head,
        target=target,
        commits=_commits(git, worktree, target, head, branch),
        behind=behind,
        changed=tuple(changed),
        untracked=tuple(untracked),
        ignored=tuple(ignored),
        obstacle=_obstacle(git, worktree, target, untracked, conflicts=conflicts),
        fingerprint=_fingerprint(worktree.path, dirty),
    )


def count_changed_files(worktree: Worktree) -> int | None:
    """Return the number of files that differ from the target branch's, committed or not. Blocks.

    Changes that only the target has do not count. Return None if the worktree is gone. Raises `UserError`.
    The user has not asked for the number, so no program of the repository runs even if it is trusted. Files
    that its own filters convert may therefore count as changed.
    """
    git = UserGit.of_worktree(worktree.path, worktree.repository)
    if git is None or not worktree.path.is_dir():
        return None
    target = git.branch_commit(worktree.target) if worktree.target else ""
    return len(git.files_changed_since(target or worktree.base))


def _commits(git: UserGit, worktree: Worktree, target: str, *heads: str) -> tuple[str, ...]:
    known = [head for head in heads if head]
    if not known:
        return ()
    lines = git.commits(known, target or worktree.base, MAX_COMMITS)
    return tuple(escape_line(line.decode(errors="replace")) for line in lines)


def _obstacle(git: UserGit, worktree: Worktree, target: str, untracked: list[str], *, conflicts: bool) -> str:
    """Return why the worktree cannot be merged, in a sentence; an empty string if no obstacle is found."""
    if not worktree.target:
        return (
            "The worktree cannot be merged: the repository had no branch checked out when the worktree"
            " was created."
        )
    if not target:
        return f"The worktree cannot be merged: the branch {worktree.target} is gone."
    current = git.current_branch()
    if current != worktree.branch:
        other = escape_line(current) or "no branch"
        return f"The worktree cannot be merged: instead of {worktree.branch}, {other} is checked out there."
    if conflicts:
        return "The worktree cannot be merged: it has unresolved conflicts."
    if git.git_dir is not None and (git.git_dir / "modules").is_dir():
        return "acp-tui cannot merge the worktree: commits in its submodules would be lost."
    nested = [name for name in untracked if name.endswith("/")]
    nested += map(escape_line, git.embedded_repositories())
    if nested:
        return f"The worktree cannot be merged: {nested[0]} is a git repository of its own."
    return ""


def _fingerprint(top: Path, names: list[str]) -> str:
    """Return text that changes whenever one of the files `names` in the folder `top` changes."""
    parts: list[str] = []
    for name in names:
        try:
            status = (top / name).lstat()
        except OSError:
            continue
        parts.append(f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}")
    return ",".join(parts)


@dataclass(frozen=True, slots=True)
class MergePlan:
    squash: bool  # into one commit; otherwise by a fast-forward, which keeps all commits
    message: str = ""  # of the new commit; unused if there are only commits to fast-forward to


class WorktreeChangedError(UserError):
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
        WorktreeChangedError: The worktree or its target branch differs from what the user has seen.
        GitCommandError: Git or a hook refused; `output` says why.
        UserError: The worktree cannot be merged, or its changes conflict with those of the target.
    """
    status = worktree_status(worktree)
    if status != shown:
        raise WorktreeChangedError("The worktree has changed in the meantime. Check the updated list.")
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
    listed = escape_line(", ".join(names[:MAX_NAMES])) + more
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

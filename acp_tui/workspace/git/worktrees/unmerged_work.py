"""Determines which work exists only in a worktree, and whether the worktree can be merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.workspace.git.git_commands import UserGit

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.workspace.git.worktrees.worktree import Worktree

MAX_COMMITS = 1000
"""The maximum number of commits to list."""


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
        name = visible_line(path)
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
    return tuple(visible_line(line.decode(errors="replace")) for line in lines)


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
        other = visible_line(current) or "no branch"
        return f"The worktree cannot be merged: instead of {worktree.branch}, {other} is checked out there."
    if conflicts:
        return "The worktree cannot be merged: it has unresolved conflicts."
    if git.git_dir is not None and (git.git_dir / "modules").is_dir():
        return "acp-tui cannot merge the worktree: commits in its submodules would be lost."
    nested = [name for name in untracked if name.endswith("/")]
    nested += map(visible_line, git.embedded_repositories())
    if nested:
        return f"The worktree cannot be merged: {nested[0]} is a git repository of its own."
    return ""


def _fingerprint(top: Path, names: list[str]) -> str:
    """Return a text that changes whenever one of the files `names` in the folder `top` changes."""
    parts: list[str] = []
    for name in names:
        try:
            status = (top / name).lstat()
        except OSError:
            continue
        parts.append(f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}")
    return ",".join(parts)

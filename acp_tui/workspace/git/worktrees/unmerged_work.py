"""Determines which work exists only in a worktree, and whether the worktree can be merged."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.workspace.git.repository import find_repository
from acp_tui.workspace.git.worktrees.user_git import UserGit

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
    exists = (worktree.path / ".git").is_file()
    git = UserGit(worktree.path if exists else worktree.repository, trusted=worktree.trusted)
    branch, target = _commit(git, f"refs/heads/{worktree.branch}"), _target(git, worktree)
    if not exists:
        commits = _commits(git, worktree, target, branch)
        return WorktreeStatus(target=target, commits=commits, obstacle="The folder of the worktree is gone.")
    head = git.line("rev-parse", "--verify", "HEAD^{commit}")
    changed, untracked, ignored, dirty = [], [], [], []
    conflicts = False
    words = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching"]
    listing = git.guarded(*words)
    for record in listing.split(b"\0"):
        state, path = record[:2], os.fsdecode(record[3:])
        name = visible_line(path)
        if state not in (b"", b"!!"):
            dirty.append(path)
        if state == b"??":
            untracked.append(name)
        elif state == b"!!":
            ignored.append(name)
        elif state:
            changed.append(name)
            conflicts = conflicts or b"U" in state or state in (b"AA", b"DD")
    behind = int(git.line("rev-list", "--count", target, f"^{head}")) if target else 0
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


def _target(git: UserGit, worktree: Worktree) -> str:
    return _commit(git, f"refs/heads/{worktree.target}") if worktree.target else ""


def _commit(git: UserGit, name: str) -> str:
    """Return the id of the commit that a name refers to; an empty string if there is no such commit."""
    words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return git.line(*words) if git.succeeds(*words) else ""


def _commits(git: UserGit, worktree: Worktree, target: str, *heads: str) -> tuple[str, ...]:
    known = [head for head in heads if head]
    if not known:
        return ()
    words = ["log", f"--max-count={MAX_COMMITS}", "--no-show-signature", "--format=%h %s"]
    lines = git.guarded(*words, *known, f"^{target or worktree.base}").splitlines()
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
    current = os.fsdecode(git.guarded("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))).strip()
    if current != f"refs/heads/{worktree.branch}":
        other = visible_line(current.removeprefix("refs/heads/")) or "no branch"
        return f"The worktree cannot be merged: instead of {worktree.branch}, {other} is checked out there."
    if conflicts:
        return "The worktree cannot be merged: it has unresolved conflicts."
    nested = [name for name in untracked if name.endswith("/")]
    if nested:
        return f"The worktree cannot be merged: {nested[0]} is a git repository of its own."
    repository = find_repository(worktree.path)
    if repository is not None and (repository.git_dir / "modules").is_dir():
        return "acp-tui cannot merge the worktree: commits in its submodules would be lost."
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

"""The user's git repository. Git is not run, so the repository's hooks and settings have no effect."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from acp_tui.session.safe_text import escape_line

_MAX_CHARACTERS = 4096  # HEAD and the other files read here hold one line each
_GIT_DIRECTORY_ENTRIES = frozenset(
    {
        *("head", "config", "config.worktree", "commondir", "gitdir", "index", "packed-refs", "shallow"),
        *("objects", "refs", "hooks", "info", "logs", "modules", "worktrees"),
    }
)
_REASON = "belongs to a git directory, whose files can make git run programs"
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Repository:
    top: Path  # the top folder of the work tree
    git_dir: Path  # contains HEAD and the index of this work tree
    common_dir: Path  # shared by all work trees; contains info/exclude


def find_repository(folder: Path) -> Repository | None:
    """Return the repository of the nearest usable `.git` in the folder or above it; None if there is none."""
    for top in [folder, *folder.parents]:
        git_dir = _git_dir(top)
        if git_dir is not None:
            common = _read_line(git_dir / "commondir")
            return Repository(top, git_dir, git_dir / common if common else git_dir)
    return None


def find_worktree_git_dir(top: Path, worktree: Path) -> Path | None:
    """Return the git directory of a linked worktree, as the repository with the top folder `top` knows it.

    None if the repository has no worktree in this folder. Nothing in the worktree is read.
    """
    repository = find_repository(top)
    known = repository.common_dir / "worktrees" if repository is not None else None
    if known is None or not known.is_dir():
        return None
    wanted = os.path.realpath(worktree)
    for git_dir in sorted(known.iterdir()):
        # With `worktree.useRelativePaths`, the path is relative to the git directory.
        linked = git_dir / (_read_line(git_dir / "gitdir") or "")
        if linked.name == ".git" and os.path.realpath(linked.parent) == wanted:
            return git_dir
    return None


def branch_name(folder: Path) -> str | None:
    """Return the branch, or a short commit id if HEAD is detached, safe to display; None if unknown."""
    repository = find_repository(folder)
    head = _read_line(repository.git_dir / "HEAD") if repository else None
    if head is None:
        return None
    if head.startswith("ref:"):
        name = head.removeprefix("ref:").strip().removeprefix("refs/heads/")
        return None if name == ".invalid" else escape_line(name)  # the reftable format keeps HEAD elsewhere
    return escape_line(head[:7]) or None


def _git_dir(top: Path) -> Path | None:
    """Return the git directory of a folder; None if there is none.

    The git directory is `.git`. In a submodule or a linked worktree, it is the directory that the file `.git`
    points to.
    """
    git_dir = top / ".git"
    if pointer := _read_line(git_dir):
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = top / pointer.removeprefix("gitdir:").strip()
    return git_dir if _read_line(git_dir / "HEAD") is not None else None


def _read_line(path: Path) -> str | None:
    """Return the text of a small file; None if the path is not a readable regular file."""
    try:
        if not path.is_file():
            return None
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MAX_CHARACTERS).strip()
    except OSError:
        return None


def is_git_directory(folder: Path) -> bool:
    """Return True if git might take this folder for a repository: the folder has `HEAD`, objects and refs.

    Instead of objects and refs, the folder can have a file `commondir` that says where objects and refs are.
    """
    if not os.path.lexists(folder / "HEAD"):
        return False
    return os.path.lexists(folder / "commondir") or (
        (folder / "objects").exists() and (folder / "refs").exists()
    )


def find_repository_folder(folder: str) -> str | None:
    """Return the folder in which git, run in `folder`, might find a repository; None if there is none."""
    start = Path(folder)
    for candidate in (start, *start.parents[:_MAX_DEPTH]):
        if os.path.lexists(candidate / ".git") or is_git_directory(candidate):
            return str(candidate)
    return None


def git_directory_reason(path: str | PurePath) -> str | None:
    """Return why a change of this file can change or create a git directory; None if there is no reason.

    There is a reason for any file in a git directory. There is also a reason for names such as `objects`
    beside a file called `HEAD`, since the folder could become a git directory. A new `HEAD` is not checked
    here, but by `sensitive_reason`. The reason is a verb phrase that follows the file's name.
    """
    try:
        whole = Path(path)
        for depth, folder in enumerate(whole.parents):
            if depth > _MAX_DEPTH:
                break
            name = whole.parts[len(folder.parts)].lower()
            beside_head = name in _GIT_DIRECTORY_ENTRIES and os.path.lexists(folder / "HEAD")
            if beside_head or is_git_directory(folder):
                return _REASON
    except (OSError, ValueError):
        pass
    return None

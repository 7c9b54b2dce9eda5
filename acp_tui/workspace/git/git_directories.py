"""Detects git directories. Their settings and hooks can make even `git status` run a program.

Git searches from the current folder upwards. In each folder it looks for `.git`, then checks whether the
folder itself looks like a git directory (a bare repository).
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath

_GIT_DIRECTORY_ENTRIES = frozenset(
    {
        *("head", "config", "config.worktree", "commondir", "gitdir", "index", "packed-refs", "shallow"),
        *("objects", "refs", "hooks", "info", "logs", "modules", "worktrees"),
    }
)
_REASON = "belongs to a git directory, whose files can make git run programs"
_MAX_DEPTH = 64


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

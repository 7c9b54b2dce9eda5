"""Folders that git takes for repositories: their settings and hooks can make `git status` run a program.

Git looks in each folder from the current one upwards: first for `.git`, then whether the folder itself looks
like a git directory (a bare repository).
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath

_PARTS = frozenset(
    {
        *("head", "config", "config.worktree", "commondir", "gitdir", "index", "packed-refs", "shallow"),
        *("objects", "refs", "hooks", "info", "logs", "modules", "worktrees"),
    }
)
_REASON = "belongs to a git directory, which may run programs named in it"
_MAX_DEPTH = 64


def is_git_directory(folder: Path) -> bool:
    """Would git take this folder itself for a repository? `HEAD`, and objects and refs here or elsewhere."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    return os.path.lexists(folder / "commondir") or (
        (folder / "objects").exists() and (folder / "refs").exists()
    )


def find_repository_folder(folder: str) -> str | None:
    """The folder of the repository that git would find from here; None when there is none."""
    here = Path(folder)
    for one in (here, *here.parents[:_MAX_DEPTH]):
        if os.path.lexists(one / ".git") or is_git_directory(one):
            return str(one)
    return None


def git_directory_reason(path: str | PurePath) -> str | None:
    """Why changing this file may change, or complete, a git directory; in words that follow its name.

    Whatever lies in one counts, and its usual parts beside a file called `HEAD`.
    """
    try:
        whole = Path(path)
        for depth, folder in enumerate(whole.parents):
            if depth > _MAX_DEPTH:
                break
            name = whole.parts[len(folder.parts)].lower()
            if (name in _PARTS and os.path.lexists(folder / "HEAD")) or is_git_directory(folder):
                return _REASON
    except (OSError, ValueError):
        pass
    return None

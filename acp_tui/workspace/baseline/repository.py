"""The user's own git repository, read without running git: nothing in it gets a chance to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from pathlib import Path

_MAX_CHARACTERS = 4096  # these files hold one line; whatever is longer is something else


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a work tree and its git directory are."""

    top: Path
    git_dir: Path  # of this work tree: HEAD, index
    common_dir: Path  # of all work trees: info/exclude


def find_repository(folder: Path) -> Repository | None:
    """The repository around a folder, found as git does: by the nearest `.git` upwards."""
    for top in [folder, *folder.parents]:
        git_dir = _git_dir(top)
        if git_dir is not None:
            common = _line(git_dir / "commondir")
            return Repository(top, git_dir, git_dir / common if common else git_dir)
    return None


def branch(folder: Path) -> str | None:
    """The branch checked out around a folder, safe to display; a short commit id when it is detached."""
    repository = find_repository(folder)
    head = _line(repository.git_dir / "HEAD") if repository else None
    if head is None:
        return None
    if head.startswith("ref:"):
        name = head.removeprefix("ref:").strip().removeprefix("refs/heads/")
        return None if name == ".invalid" else visible_line(name)  # the reftable format keeps HEAD elsewhere
    return visible_line(head[:7]) or None


def _git_dir(top: Path) -> Path | None:
    """What `.git` of a folder is or, in submodules and further work trees, says."""
    git_dir = top / ".git"
    if pointer := _line(git_dir):
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = top / pointer.removeprefix("gitdir:").strip()
    return git_dir if _line(git_dir / "HEAD") is not None else None


def _line(path: Path) -> str | None:
    """The text of a small file; None when there is none, or anything that might block."""
    try:
        if not path.is_file():
            return None
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MAX_CHARACTERS).strip()
    except OSError:
        return None

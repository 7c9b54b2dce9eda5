"""Project folders for tests, and helpers to compare and revert them."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.baseline.baseline import Baseline
from acp_tui.workspace.files.open_folder import Roots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.workspace.baseline.file_change import Limits

_AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always"]


def git(folder: Path, *words: str) -> str:
    """Run git without the user's configuration and return its output."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *_AUTHOR, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def fill(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def repository(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, commit them in a new repository and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    fill(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=first")
    return folder


Snapshot = dict[str, tuple[int, bytes]]


def snapshot(folder: Path, *, with_git: bool = False) -> Snapshot:
    """Return mode and content of every file and link."""
    found: Snapshot = {}
    for parent, folders, names in os.walk(folder):
        if not with_git and ".git" in folders:
            folders.remove(".git")
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in names + links:
            path = Path(parent, name)
            mode = path.lstat().st_mode
            content = os.fsencode(path.readlink()) if stat.S_ISLNK(mode) else path.read_bytes()
            found[str(path.relative_to(folder))] = (mode, content)
    return found


async def taken(*roots: Path, limits: Limits | None = None) -> Baseline:
    """Take a baseline of some folders, stored beside the first."""
    directory = roots[0].parent / "baseline.git"
    baseline = Baseline(Roots(roots[0], roots[1:]), directory, limits)
    await baseline.take_snapshot()
    return baseline


async def changes(baseline: Baseline, folder: Path) -> dict[str, str]:
    """Return the kind of each change by relative path; "stays" marks those that cannot be reverted."""
    return {
        str(change.path.relative_to(folder)): change.kind if change.revertable else f"{change.kind}, stays"
        for change in await baseline.changes()
    }


async def revert_all(baseline: Baseline) -> None:
    """Revert all changes that can be reverted."""
    for change in await baseline.changes():
        if change.revertable:
            await baseline.revert(change.path)

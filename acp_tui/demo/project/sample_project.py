"""Creates the sample project, which the demo works on by default: a small Python project with a bug."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from acp_tui.config.paths import paths, private_directory
from acp_tui.demo.project.sample_files import BUG, FILES, FIX, MODULE
from acp_tui.errors import UserError

PROJECT_NAME = "basket"
MAX_AGE_DAYS = 14
"""Age after which unused copies are removed; long enough for sessions to be resumed."""


def make_project() -> Path:
    """Copy the sample project to a new folder in the cache directory, and return the path of the copy."""
    home = paths().cache / "demo"
    try:
        private_directory(home)
        _remove_old_copies(home)
        project = Path(tempfile.mkdtemp(prefix="sample-", dir=home)) / PROJECT_NAME
        project.mkdir()
        for name, text in FILES.items():
            (project / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"Cannot create the demo's sample project in {home}: {error.strerror or error}."
        ) from error
    _make_repository(project)
    return project.resolve()


def is_sample(folder: Path) -> bool:
    """Return True if the folder looks like a copy of the sample project, with or without the bug."""
    try:
        text = (folder / MODULE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return folder.name == PROJECT_NAME and (BUG in text or FIX in text)


def _remove_old_copies(home: Path) -> None:
    oldest = time.time() - MAX_AGE_DAYS * 24 * 3600
    for copy in home.glob("sample-*"):
        try:
            touched = max(entry.stat().st_mtime for entry in (copy, *copy.rglob("*")))
        except OSError:
            continue  # another process is removing it
        if touched < oldest:
            shutil.rmtree(copy, ignore_errors=True)


def _make_repository(project: Path) -> None:
    """If git is installed, create a repository with one commit. Ignore the user's configuration and hooks."""
    # Otherwise a `GIT_DIR` of the caller (for example in a hook) would receive the commit.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=acp-tui demo", "-c", "user.email=demo@example.invalid")
    for arguments in (
        ("-c", "init.defaultBranch=main", "init", "--quiet", "--template="),
        ("add", "--all"),
        (*identity, "commit", "--quiet", "--message", "A basket with a bug"),
    ):
        try:
            subprocess.run(
                ["git", *arguments], cwd=project, env=environment, check=True, capture_output=True, timeout=30
            )
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(project / ".git", ignore_errors=True)
            return

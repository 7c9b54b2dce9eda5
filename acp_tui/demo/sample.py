"""A small Python project with a bug: what the demo agent works on when nobody gives it a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from acp_tui.config.paths import paths, private_directory
from acp_tui.demo.sample_files import BUG, FILES, FIX, MODULE
from acp_tui.errors import UserError

PROJECT_NAME = "basket"
MAX_AGE_DAYS = 14
"""Long enough to come back to a session; copies nobody touched since then go away."""


def make_project() -> Path:
    """A fresh copy of the sample project, in a folder of its own below the cache directory."""
    home = paths().cache / "demo"
    try:
        private_directory(home)
        _remove_old_copies(home)
        project = Path(tempfile.mkdtemp(prefix="sample-", dir=home)) / PROJECT_NAME
        project.mkdir()
        for name, text in FILES.items():
            (project / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"The demo's project cannot be made in {home}: {error.strerror or error}.") from error
    _make_repository(project)
    return project.resolve()


def is_sample(folder: Path) -> bool:
    """Is this a copy of the sample project, with the bug or without? Anywhere else hands are kept off."""
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
            continue  # somebody else is removing it
        if touched < oldest:
            shutil.rmtree(copy, ignore_errors=True)


def _make_repository(project: Path) -> None:
    """Make it a git repository where there is a git; nobody's configuration, hooks or names are used."""
    # Without these a `GIT_DIR` of the caller (say, in a hook) would be committed to.
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

"""Where acp-tui keeps things, and how: directories 0700, files with content 0600."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """The directories of one user. Nothing is created by asking for them."""

    config: Path  # written by the user's hand: config.toml, themes/, agents/
    data: Path  # session folders
    state: Path  # remembered rules, drafts, history
    cache: Path  # can be deleted at any time


def paths() -> Paths:
    """The directories in force: below `ACP_TUI_HOME` when it is set, else the platform's own."""
    if home := os.environ.get("ACP_TUI_HOME"):
        base = Path(home).expanduser().absolute()
        return Paths(base / "config", base / "data", base / "state", base / "cache")
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("acp-tui", appauthor=False)
    return Paths(
        Path(dirs.user_config_dir),
        Path(dirs.user_data_dir),
        Path(dirs.user_state_dir),
        Path(dirs.user_cache_dir),
    )


def config_file() -> Path:
    """The settings, written by the user's hand; it may be missing."""
    return paths().config / "config.toml"


def project_file(cwd: Path) -> Path:
    """The settings a project may bring along."""
    return cwd / ".acp-tui.toml"


def private_directory(path: Path) -> Path:
    """Make the directory and its missing parents, readable by nobody else."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)
    return path


def write_private(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file atomically; by default it is readable by nobody else."""
    private_directory(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # made 0600
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

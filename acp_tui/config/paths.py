"""The directories of acp-tui. Creates directories (0700) and files (0600) that only the user can read."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """The directories of one user. They do not have to exist."""

    config: Path  # files that the user writes: config.toml, themes/, agents/; and our mcp.toml
    data: Path  # session folders
    state: Path  # remembered rules, drafts, history
    cache: Path  # can be deleted at any time


def paths() -> Paths:
    """Return the directories: below `ACP_TUI_HOME` if it is set, otherwise those of the platform."""
    if home := os.environ.get("ACP_TUI_HOME"):
        base = Path(os.path.expanduser(home)).absolute()  # noqa: PTH111 - leaves an unknown `~user` as it is
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
    """Return the path of the user's settings file. The file may not exist."""
    return paths().config / "config.toml"


def mcp_file() -> Path:
    """Return the path of `mcp.toml`, the MCP settings that acp-tui itself writes. The file may not exist."""
    return paths().config / "mcp.toml"


def project_file(cwd: Path) -> Path:
    """Return the path of a project's settings file. The file may not exist."""
    return cwd / ".acp-tui.toml"


def worktrees_directory(data_dir: Path) -> Path:
    """Return the directory of the git worktrees that acp-tui makes: one folder for each repository."""
    return data_dir / "worktrees"


def private_directory(path: Path) -> Path:
    """Create a directory and its missing parents, accessible only to the user.

    Directories that exist are not changed.
    """
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)
    return path


def write_private(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file atomically. By default only the user can read it."""
    private_directory(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
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

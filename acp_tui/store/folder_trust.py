"""Remembers which agent the user has allowed a project's `.acp-tui.toml` to start."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from acp_tui.config.paths import private_directory, write_private
from acp_tui.store.locks import file_lock

if TYPE_CHECKING:
    from pathlib import Path

LOCK_TIMEOUT_SECONDS = 1.0


class FolderTrust:
    """The allowed agent of each folder, in one file of the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "trusted-folders.json"

    def allows(self, folder: Path, agent: str) -> bool:
        """Return True if the user has allowed this folder to start this agent."""
        return self._read().get(str(folder.resolve())) == agent

    def allow(self, folder: Path, agent: str) -> None:
        """Save that this folder may start this agent. Raises `OSError`."""
        private_directory(self._path.parent)
        with file_lock(self._path.with_name(f".{self._path.name}.lock"), timeout=LOCK_TIMEOUT_SECONDS):
            agents = self._read() | {str(folder.resolve()): agent}
            write_private(self._path, json.dumps({"version": 1, "agents": agents}, indent=2) + "\n")

    def _read(self) -> dict[str, str]:
        try:
            content = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}  # the user is asked again
        agents = content.get("agents") if isinstance(content, dict) else None
        return agents if isinstance(agents, dict) else {}

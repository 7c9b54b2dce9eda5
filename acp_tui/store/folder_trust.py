"""Remembers which folders the user trusts, and which agents and MCP servers a folder's settings may start."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import read_own_json
from acp_tui.config.paths import write_private
from acp_tui.store.locks import change_lock

VERSION = 2


@dataclass(frozen=True, slots=True)
class ServerConsent:
    """The user's answer about one MCP server that a folder's settings define."""

    digest: str  # of the definition the user saw
    allowed: bool
    at: float | None = field(default=None, compare=False)  # when the user answered; None in older files


@dataclass(slots=True)
class TrustedFolder:
    """What the user has decided about one folder."""

    trusted: bool | None = None  # None: not decided
    agent: str | None = None  # the agent that the folder's settings may start
    servers: dict[str, ServerConsent] = field(default_factory=dict)  # by name


class FolderTrust:
    """What the user has decided about all folders, saved in one file in the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "trusted-folders.json"

    def folder(self, folder: Path) -> TrustedFolder:
        """Return what was decided about a folder."""
        return self.folders().get(os.path.realpath(folder), TrustedFolder())

    def folders(self) -> dict[str, TrustedFolder]:
        """Return what was decided about the folders, keyed by their real paths."""
        try:
            return _folders(self._content())
        except (OSError, ValueError, RecursionError):
            return {}  # the user is asked again

    def trust(self, folder: Path, *, trusted: bool) -> None:
        """Save whether a folder is trusted. Raises `OSError`."""
        self._change(folder, lambda saved: replace(saved, trusted=trusted))

    def allow_agent(self, folder: Path, agent: str) -> None:
        """Save that the settings of a folder may start this agent. Raises `OSError`."""
        self._change(folder, lambda saved: replace(saved, agent=agent))

    def decide_server(self, folder: Path, name: str, consent: ServerConsent) -> None:
        """Save the user's answer about an MCP server that a folder's settings define. Raises `OSError`."""
        self._change(folder, lambda saved: replace(saved, servers=saved.servers | {name: consent}))

    def forget(self, folder: Path) -> bool:
        """Forget all decisions about a folder. Return False if none was saved. Raises `OSError`."""
        with change_lock(self._path):
            folders = self._folders_to_change()
            known = [path for path in (os.path.realpath(folder), str(folder)) if path in folders]
            if known:
                self._write({path: saved for path, saved in folders.items() if path not in known})
        return bool(known)

    def _change(self, folder: Path, change: Callable[[TrustedFolder], TrustedFolder]) -> None:
        with change_lock(self._path):
            folders = self._folders_to_change()
            path = os.path.realpath(folder)
            self._write(folders | {path: change(folders.get(path, TrustedFolder()))})

    def _folders_to_change(self) -> dict[str, TrustedFolder]:
        """Return the saved decisions, so that the caller can change them. A damaged file is renamed.

        Raises `OSError` if the file is unreadable or from a newer acp-tui: saving would lose decisions.
        """
        try:
            content = self._content()
        except (ValueError, RecursionError):
            damaged = f"{self._path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}"
            self._path.replace(self._path.with_name(damaged))
            return {}
        version = content.get("version")
        if isinstance(version, int) and version > VERSION:
            raise OSError(None, "it was written by a newer version of acp-tui")
        return _folders(content)

    def _content(self) -> dict[str, Any]:
        """Return the content of the file, empty if the file is missing. Raises `OSError` and `ValueError`."""
        try:
            content = read_own_json(self._path)
        except FileNotFoundError:
            return {}
        if not isinstance(content, dict):
            raise ValueError("not an object")  # noqa: TRY004 - as for invalid JSON
        return content

    def _write(self, folders: dict[str, TrustedFolder]) -> None:
        content = {"version": VERSION, "folders": {path: asdict(saved) for path, saved in folders.items()}}
        write_private(self._path, json.dumps(content, indent=2) + "\n")


def _folders(content: dict[str, Any]) -> dict[str, TrustedFolder]:
    """Return the decisions in the file's content. Version 1 of the file had only an agent for each folder."""
    agents, folders = content.get("agents"), content.get("folders")
    found = {path: TrustedFolder(agent=_text(name)) for path, name in _table(agents).items()}
    return found | {path: _folder(_table(entry)) for path, entry in _table(folders).items()}


def _folder(entry: dict[str, Any]) -> TrustedFolder:
    trusted = entry.get("trusted")
    consents = {name: _table(consent) for name, consent in _table(entry.get("servers")).items()}
    return TrustedFolder(
        trusted=trusted if isinstance(trusted, bool) else None,
        agent=_text(entry.get("agent")),
        servers={
            name: ServerConsent(consent["digest"], consent["allowed"], _number(consent.get("at")))
            for name, consent in consents.items()
            if isinstance(consent.get("digest"), str) and isinstance(consent.get("allowed"), bool)
        },
    )


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None

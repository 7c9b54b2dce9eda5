"""The agents that `acp-tui agents install` has installed, one folder each in the data directory.

`agents/ID/installed.json` names the version folder beside it that is used. A version folder without a record
is left over from an interrupted or an earlier installation. `agent_registry/` writes both.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from acp_tui.config.own_files import read_own_object
from acp_tui.config.paths import paths, write_private

RECORD = "installed.json"
_held: dict[Path, int] = {}  # an open descriptor for each version folder that this process uses


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    """The record of an installed agent."""

    id: str
    name: str
    version: str
    kind: str  # binary, npx or uvx
    source: str  # the package with its version, or the address of the archive
    folder: str  # the name of the version folder
    program: str  # its path in the version folder
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    about: str = ""
    homepage: str = ""
    sha256: str = ""  # of the downloaded archive; empty for packages
    registry: str = ""  # the address of the registry that lists the agent

    @property
    def path(self) -> Path:
        """The version folder."""
        return agent_folder(self.id) / self.folder

    @property
    def command(self) -> tuple[str, ...]:
        """The program with its arguments."""
        return (str(self.path / self.program), *self.arguments)

    def save(self) -> None:
        """Make this the version that is used. Raises `OSError`."""
        write_private(agent_folder(self.id) / RECORD, json.dumps(asdict(self), indent=2))

    def hold(self) -> None:
        """Keep the version folder from being deleted until this process ends."""
        if self.path not in _held:
            with suppress(OSError):
                descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                _held[self.path] = descriptor


def agents_folder() -> Path:
    """Return the folder of the installed agents. It may not exist."""
    return paths().data / "agents"


def agent_folder(agent_id: str) -> Path:
    """Return the folder of an installed agent, with its record and its versions."""
    return agents_folder() / agent_id


def installed_agents() -> dict[str, InstalledAgent]:
    """Return the installed agents by id. Damaged records are left out."""
    return {agent.id: agent for agent in _read_all()}


def _read_all() -> Iterator[InstalledAgent]:
    try:
        folders = sorted(agents_folder().iterdir())
    except OSError:
        return
    for folder in folders:
        content = read_own_object(folder / RECORD)
        values = {one.name: content[one.name] for one in fields(InstalledAgent) if one.name in content}
        with suppress(TypeError, AttributeError):
            agent = InstalledAgent(**values)
            agent = replace(agent, arguments=tuple(agent.arguments))
            texts = [agent.id, agent.name, agent.version, agent.folder, agent.program, *agent.arguments]
            texts += [*agent.env, *agent.env.values()]
            if agent.id == folder.name and all(isinstance(text, str) for text in texts):
                yield agent

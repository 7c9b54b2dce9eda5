"""Agents of the user's own: `[agents.NAME]` in `config.toml`, or a file `agents/NAME.toml` beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config import checks, toml_document
from acp_tui.config.checks import WrongValueError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acp_tui.config.problems import Problem

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


@dataclass(slots=True)
class UserAgent:
    """An agent the user describes, or what they change about one that is known."""

    name: str
    file: Path
    line: int | None
    command: list[str] | None = None  # None: as the known agent of this name
    title: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    install: str | None = None
    missing_file: str | None = None


def _missing_file(value: Any) -> str:
    if value in ("error", "empty"):
        return str(value)
    raise checks.wrong_value('"error" or "empty"', value)


CHECKS: dict[str, Callable[[Any], Any]] = {
    "command": checks.command,
    "title": checks.text,
    "env": checks.mapping,
    "install": checks.text,
    "missing_file": _missing_file,
}


def from_document(config: toml_document.Document) -> dict[str, UserAgent]:
    """The agents of `config.toml`."""
    entries = config.data.get("agents")
    if not isinstance(entries, dict):
        config.complain(("agents",), str(checks.wrong_value("tables, [agents.NAME]", entries)))
        return {}
    found = (_read(config, name, entry, ("agents", name)) for name, entry in entries.items())
    return {agent.name: agent for agent in found if agent}


def from_folder(folder: Path) -> tuple[dict[str, UserAgent], list[Problem]]:
    """The agents that have a file each; the file's name is the agent's."""
    agents: dict[str, UserAgent] = {}
    problems: list[Problem] = []
    for file in sorted(folder.glob("[!.]*.toml")):
        source = toml_document.read(file)
        if source.data or not source.problems:
            agent = _read(source, file.stem, source.data, ())
            if agent:
                agents[agent.name] = agent
        problems += source.problems
    return agents, problems


def _read(source: toml_document.Document, name: str, entry: Any, path: tuple[str, ...]) -> UserAgent | None:
    if not _NAME.fullmatch(name):
        source.complain(path, f"{name!r} is not a valid agent name; use letters, digits and -")
        return None
    if not isinstance(entry, dict):
        source.complain(path, str(checks.wrong_value(f"a table, [agents.{name}]", entry)))
        return None
    agent = UserAgent(name, source.file, source.line(*path))
    for key, value in entry.items():
        if key not in CHECKS:
            source.complain_of_unknown_key((*path, key), CHECKS)
            continue
        try:
            setattr(agent, key, CHECKS[key](value))
        except WrongValueError as error:
            source.complain((*path, key), str(error))
            if key == "command":  # the agent must not be started in some other way than the one meant
                return None
    if agent.command:
        agent.command[0] = checks.resolve_program(agent.command[0], source.file.parent)
    return agent

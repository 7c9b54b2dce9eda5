"""The user's agents: `[agents.NAME]` in `config.toml`, or a file `agents/NAME.toml` beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import toml_document, validators

if TYPE_CHECKING:
    from acp_tui.config.validators import Problem, ProtocolChoice

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


@dataclass(slots=True)
class UserAgent:
    """A new agent defined by the user, or the user's changes to the built-in agent called `name`."""

    name: str
    file: Path
    line: int | None
    command: list[str] | None = None  # None: the known agent's command
    title: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    install: str | None = None
    missing_file: str | None = None
    once_option: str | None = None
    question_answers: str | None = None
    mode: str | None = None  # set in new sessions
    protocol: ProtocolChoice | None = None
    options: dict[str, str] = field(default_factory=dict)  # set in new sessions, by id, name or category


def _one_of(first: str, second: str) -> Callable[[Any], str]:
    def validate(value: Any) -> str:
        if value in (first, second):
            return str(value)
        raise validators.invalid_value(f'"{first}" or "{second}"', value)

    return validate


VALIDATORS: dict[str, Callable[[Any], Any]] = {
    "command": validators.command,
    "title": validators.text,
    "env": validators.mapping,
    "install": validators.text,
    "once_option": validators.text,
    "missing_file": _one_of("error", "empty"),
    "question_answers": _one_of("standard", "qwen"),
    "mode": validators.text,
    "options": validators.mapping,
    "protocol": validators.protocol,
}


def from_document(config: toml_document.TomlDocument) -> dict[str, UserAgent]:
    """Return the agents that `config.toml` defines, by name."""
    entries = config.tables("agents")
    found = (_read(config, name, entry, ("agents", name)) for name, entry in entries.items())
    return {agent.name: agent for agent in found if agent}


def from_folder(folder: Path) -> tuple[dict[str, UserAgent], list[Problem]]:
    """Return the agents defined in the files `NAME.toml` of a folder, and problems in these files."""
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


def _read(
    source: toml_document.TomlDocument, name: str, entry: Any, path: tuple[str, ...]
) -> UserAgent | None:
    if not _NAME.fullmatch(name):
        source.report(path, f"{name!r} is not a valid agent name; use letters, digits and -")
        return None
    if not isinstance(entry, dict):
        source.table(path, entry)  # reports it
        return None
    values, invalid = source.checked(path, entry, VALIDATORS)
    if "command" in invalid:  # the known agent's command must not be started instead
        return None
    agent = UserAgent(name, source.file, source.line(*path), **values)
    if agent.command:
        agent.command[0] = validators.resolve_program(agent.command[0], source.file.parent)
    return agent

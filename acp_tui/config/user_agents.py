"""The user's agents: `[agents.NAME]` in `config.toml`, or a file `agents/NAME.toml` beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import local_profiles, remote_address, toml_document, validators
from acp_tui.config.remote_address import RemoteAddress

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
    url: str | None = None  # in place of a command
    headers: dict[str, str] = field(default_factory=dict)
    token_command: list[str] | None = None
    ca_file: str | None = None
    allow_insecure: bool = False
    transport: str | None = None
    remote: bool = False  # the command reaches an agent on another machine
    folder: str | None = None  # of sessions, on the other machine
    serve_workspace: bool = False  # the files and programs of this machine are offered all the same

    @property
    def address(self) -> RemoteAddress | None:
        """The address of an agent that is not started by a command."""
        if self.url is None:
            return None
        folder = self.file.parent
        return RemoteAddress(
            self.url,
            self.headers,
            tuple(self.token_command or ()),
            ca_file=validators.resolve_path(folder, self.ca_file) if self.ca_file else None,
            allow_insecure=self.allow_insecure,
            transport=self.transport,
        )


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
    "url": remote_address.checked_url,
    "headers": remote_address.headers,
    "token_command": validators.command,
    "ca_file": validators.text,
    "allow_insecure": validators.boolean,
    "transport": validators.one_of(*remote_address.TRANSPORTS),
    "remote": validators.boolean,
    "folder": remote_address.remote_folder,
    "serve_workspace": validators.boolean,
}
_FOR_REMOTE = ("folder", "serve_workspace")
_FOR_URL = ("headers", "token_command", "ca_file", "allow_insecure", "transport")


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
            entry = source.data
            if file == local_profiles.default_file():  # its other keys are those of a model
                entry = {key: value for key, value in entry.items() if key not in local_profiles.VALIDATORS}
            agent = _read(source, file.stem, entry, ())
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
    if "command" in invalid or "url" in invalid:  # the known agent's command must not be started instead
        return None
    if "url" in values and "command" in values:
        source.report((*path, "url"), "an agent has either `command` or `url`")
        return None
    if any(key in invalid for key in _FOR_URL):  # for example a token that would be missing
        return None
    if values.get("transport") == "http" and values.get("url", "").lower().startswith("ws"):
        source.report((*path, "transport"), 'is "http", which needs a url that begins with https://')
        return None
    _drop_remote_keys(source, path, values)
    agent = UserAgent(name, source.file, source.line(*path), **values)
    if agent.token_command:
        agent.token_command[0] = validators.resolve_program(agent.token_command[0], source.file.parent)
    if agent.command:
        agent.command[0] = validators.resolve_program(agent.command[0], source.file.parent)
    return agent


def _drop_remote_keys(
    source: toml_document.TomlDocument, path: tuple[str, ...], values: dict[str, Any]
) -> None:
    """Report and remove the keys for agents on other machines if this agent is not one."""
    unusable: dict[str, str] = {}
    if "url" not in values:
        unusable |= dict.fromkeys(_FOR_URL, "is only for agents with `url`")
        if not values.get("remote"):
            unusable |= dict.fromkeys(_FOR_REMOTE, "is only for agents with `url` or `remote = true`")
    for key, sentence in unusable.items():
        if values.pop(key, None) is not None:
            source.report((*path, key), sentence)

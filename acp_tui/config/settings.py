"""The effective settings, and where each value comes from.

From lowest to highest precedence: built-in defaults, `config.toml`, the project's `.acp-tui.toml`,
environment variables, command line. Invalid values in files and variables are ignored and reported as
problems, so that acp-tui still starts. Invalid values on the command line raise `UserError`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp_tui.config import (
    local_profiles,
    mcp,
    mcp_sources,
    toml_document,
    user_agents,
    user_tools,
    validators,
)
from acp_tui.config.early_settings import flatten_bindings, join_keys
from acp_tui.config.paths import config_file as config_file
from acp_tui.config.paths import mcp_file, paths
from acp_tui.config.paths import project_file as project_file
from acp_tui.config.remote_address import TOKEN_VARIABLE
from acp_tui.config.validators import InvalidValueError, Problem, closest_match
from acp_tui.errors import UsageError

PREFIX = "ACP_TUI_"
"""The prefix of environment variables: `ACP_TUI_TIMEOUTS_SESSION=90` sets `timeouts.session`."""
DIRECTORIES = "workspace.additional_directories"
VALIDATORS: dict[str, Callable[[Any], Any]] = {
    "agent": validators.text,
    "policy": validators.policy,
    "theme": validators.text,
    "theme_dark": validators.text,
    "theme_light": validators.text,
    "panes": validators.panes,
    "notify": validators.notify,
    "notify_command": validators.command,
    "type_to_prompt": validators.boolean,
    "restore_tabs": validators.boolean,
    "context_warning": validators.percentage,
    "terminal_progress": validators.terminal_progress,
    "timeouts.initialize": validators.seconds,
    "timeouts.session": validators.seconds,
    "log.enabled": validators.boolean,
    "log.keep_sessions": validators.count,
    "log.keep_bytes": validators.size,
    "log.max_session_bytes": validators.size,
    DIRECTORIES: validators.strings,
    "workspace.sensitive": validators.strings,
    "workspace.max_baseline_file_size": validators.size,
    "workspace.max_rewind_turns": validators.count,
    "workspace.max_rewind_bytes": validators.size,
    "workspace.keep_baseline_days": validators.count,
    "workspace.keep_baseline_bytes": validators.size,
    "own_server.enabled": validators.boolean,
    "own_server.agents": validators.strings,
    "telemetry.traceparent": validators.traceparent,
    "registry.url": validators.registry_address,
}
"""The validators by key. The other tables are validated elsewhere."""
SECTIONS = {key.partition(".")[0] for key in VALIDATORS if "." in key}
TABLE_KEYS = frozenset({"mcp_servers", "tools", "agents", "local", "keys"})
PROJECT_KEYS = ("agent", "theme", "panes")
"""The keys a project's file may set. A cloned repository must not choose commands, servers or rules."""


@dataclass(slots=True)
class Timeouts:
    """How long to wait for an agent's answer, in seconds."""

    initialize: float = 60.0
    session: float = 60.0


@dataclass(slots=True)
class Log:
    """Whether sessions are recorded, and the limits for recordings."""

    enabled: bool = True
    keep_sessions: int = 200
    keep_bytes: int = 1_000_000_000
    max_session_bytes: int = 100_000_000  # recording of a session stops at this size


@dataclass(slots=True)
class Workspace:
    """Settings for the files that agents can access."""

    additional_directories: list[Path] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)  # patterns in addition to the built-in ones
    max_baseline_file_size: int = 5_000_000  # larger files cannot be reverted
    max_rewind_turns: int = 100
    max_rewind_bytes: int = 200_000_000  # of the copies of changed files
    keep_baseline_days: int = 30  # since the session was last used
    keep_baseline_bytes: int = 2_000_000_000  # of the copies of all sessions together


@dataclass(slots=True)
class OwnServerSettings:
    """Which agents get acp-tui's own MCP server."""

    enabled: bool = False
    agents: list[str] = field(default_factory=list)  # empty: every agent
    chosen: dict[str, bool] = field(default_factory=dict)  # by agent: what the user chose for this run

    def is_for(self, agent: str) -> bool:
        """Return True if the agent gets acp-tui's own MCP server."""
        configured = self.enabled and (not self.agents or agent in self.agents)
        return self.chosen.get(agent, configured)

    def toggle(self, agent: str) -> bool:
        """Toggle acp-tui's own MCP server for the agent, in this run only.

        Return True if the server is now on.
        """
        self.chosen[agent] = not self.is_for(agent)
        return self.chosen[agent]


@dataclass(slots=True)
class Telemetry:
    """What requests to agents carry, so that their traces can be found."""

    traceparent: str = "environment"  # environment | off | random | a value of W3C trace context


@dataclass(slots=True)
class RegistrySettings:
    """Where the list of agents to install is fetched from."""

    url: str = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"  # or a path


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the value of a setting comes from."""

    layer: str  # built in | config | project | environment | command line
    file: Path | None = None
    line: int | None = None
    variable: str | None = None

    def __str__(self) -> str:
        """Return `FILE:LINE` or `FILE`. Without a file, return the layer and any environment variable."""
        if self.file is not None:
            return str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return f"{self.layer} {self.variable}" if self.variable else self.layer


@dataclass(slots=True)
class Settings:
    """All settings, initially with their defaults."""

    agent: str | None = None  # started if the command line names none
    policy: str | None = None  # None: each command has its own default
    theme: str = "auto"
    theme_dark: str = "dark"  # the theme that "auto" uses on a dark background
    theme_light: str = "light"
    panes: str = "none"  # the pane that is open when a conversation begins
    keys: dict[str, str] = field(default_factory=dict)  # by action id; checked by the screen
    notify: str = "all"  # how the user is notified when the window is unfocused
    notify_command: list[str] = field(default_factory=list)  # a program and its arguments, run for each alert
    type_to_prompt: bool = True  # whether text typed in the conversation goes to the prompt
    restore_tabs: bool = False  # whether the tabs of the last run in the folder come back
    context_warning: int = 85  # the percentage of the context window at which to warn; 0: never
    terminal_progress: str = "auto"  # whether the terminal's tab shows that an agent works
    timeouts: Timeouts = field(default_factory=Timeouts)
    log: Log = field(default_factory=Log)
    workspace: Workspace = field(default_factory=Workspace)
    own_server: OwnServerSettings = field(default_factory=OwnServerSettings)
    telemetry: Telemetry = field(default_factory=Telemetry)
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    tools: dict[str, user_tools.UserTool] = field(default_factory=dict)
    mcp_servers: list[mcp.Server] = field(default_factory=list)  # if two have the same name, the last is used
    mcp_states: dict[str, mcp.ServerState] = field(default_factory=dict)  # by name
    agents: dict[str, user_agents.UserAgent] = field(default_factory=dict)
    local: local_profiles.LocalModels = field(default_factory=local_profiles.LocalModels)
    origins: dict[str, Origin] = field(default_factory=dict)  # by dotted key; `BUILT_IN` if missing
    problems: list[Problem] = field(default_factory=list)

    def value(self, key: str) -> Any:
        """Return the value of a dotted key such as `log.enabled`."""
        found: Any = self
        for name in key.split("."):
            found = getattr(found, name)
        return found

    def origin(self, key: str) -> Origin:
        """Return where the value of a dotted key comes from."""
        return self.origins.get(key, BUILT_IN)


def find_origin(cwd: Path, key: str) -> Origin:
    """Return where a setting comes from, apart from the command line.

    Slow, because all files are read again: for error messages only.
    """
    return load(cwd).origin(key)


BUILT_IN = Origin("built in")


def load(
    cwd: Path, *, overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Return the effective settings in a directory. Raises `UserError` only for invalid `overrides`.

    `overrides` are the values from the command line by dotted key; None means that the option was not used.
    """
    settings = Settings()
    _read_config(settings, toml_document.read(config_file()))
    _read_mcp_file(settings, toml_document.read(mcp_file()))
    _read_agents(settings, paths().config / "agents")
    settings.problems += local_profiles.add_default(settings.local)
    _read_project(settings, toml_document.read(project_file(cwd)))
    _read_environment(settings, os.environ if environ is None else environ)
    for key, value in (overrides or {}).items():
        if value is not None:
            _override(settings, key, value, cwd)
    return settings


# --------------------------------------------------------------------------- files


def _read_config(settings: Settings, config: toml_document.TomlDocument) -> None:
    for name, value in config.data.items():
        if name == "mcp_servers":
            settings.mcp_servers = mcp_sources.from_document(config)
        elif name == "tools":
            settings.tools = user_tools.from_document(config)
        elif name == "agents":
            settings.agents = user_agents.from_document(config)
        elif name == "local":
            settings.local = local_profiles.from_document(config)
        elif name == "keys":
            _read_keys(settings, config, value)
        elif name in SECTIONS:
            _read_section(settings, config, name, value)
        elif name in VALIDATORS:
            _set(settings, config, (name,), value, "config")
        else:
            config.report_unknown_key((name,), _top_level())
    settings.problems += config.problems


def _read_mcp_file(settings: Settings, document: toml_document.TomlDocument) -> None:
    """Add the servers of `mcp.toml`. Servers of the same name in `config.toml` take precedence."""
    for name in document.data:
        if name not in ("mcp_servers", "mcp_state"):
            document.report_unknown_key((name,), ("mcp_servers", "mcp_state"))
    settings.mcp_states = mcp.states_in(document)
    servers = [*mcp_sources.from_document(document, report_unknown_keys=False), *settings.mcp_servers]
    settings.mcp_servers = mcp.with_states(servers, settings.mcp_states)
    settings.problems += document.problems


def _read_section(settings: Settings, config: toml_document.TomlDocument, section: str, value: Any) -> None:
    known = [key.partition(".")[2] for key in VALIDATORS if key.startswith(f"{section}.")]
    for name, item in config.table((section,), value).items():
        if name in known:
            _set(settings, config, (section, name), item, "config")
        else:
            config.report_unknown_key((section, name), known)


def _read_keys(settings: Settings, config: toml_document.TomlDocument, table: Any) -> None:
    for path, value in flatten_bindings(config.table(("keys",), table)):
        keys, key = join_keys(value), ".".join(("keys", *path))
        if keys is None:
            error = validators.invalid_value('a key such as "ctrl+j" or a list of keys', value)
            config.report(("keys", *path), str(error))
        else:
            settings.keys[".".join(path)] = keys
            settings.origins[key] = Origin("config", config.file, config.line("keys", *path))


def _read_agents(settings: Settings, folder: Path) -> None:
    agents, problems = user_agents.from_folder(folder)
    settings.problems += problems
    for name, agent in agents.items():
        existing = settings.agents.setdefault(name, agent)
        if existing is not agent:
            sentence = f"ignored, because {existing.file}:{existing.line} defines {name} already"
            settings.problems.append(Problem(agent.file, None, "", sentence))


def _read_project(settings: Settings, project: toml_document.TomlDocument) -> None:
    for name, value in project.data.items():
        if name in PROJECT_KEYS:
            _set(settings, project, (name,), value, "project")
        elif name in _top_level():
            project.report(
                (name,),
                f"ignored: a project may only set {', '.join(PROJECT_KEYS)}; set other keys in config.toml",
            )
        else:
            project.report_unknown_key((name,), _top_level())
    settings.problems += project.problems


def _top_level() -> set[str]:
    return {key.partition(".")[0] for key in VALIDATORS} | TABLE_KEYS


def _set(
    settings: Settings, source: toml_document.TomlDocument, path: tuple[str, ...], value: Any, layer: str
) -> None:
    key = ".".join(path)
    try:
        value = VALIDATORS[key](value)
    except InvalidValueError as error:
        source.report(path, str(error))
        return
    if key == DIRECTORIES:
        value = _directories(source, path, value)
    _assign(settings, key, value, Origin(layer, source.file, source.line(*path)))


def _directories(source: toml_document.TomlDocument, path: tuple[str, ...], names: list[str]) -> list[Path]:
    """Return existing directories in `names` as absolute paths. Report missing directories as problems."""
    found = []
    for position, name in enumerate(names):
        directory = validators.resolve_path(source.file.parent, name)
        if directory.is_dir():
            found.append(directory)
        else:
            source.report((*path, position), f"directory {directory} does not exist")
    return found


def _assign(settings: Settings, key: str, value: Any, origin: Origin) -> None:
    section, _, name = key.rpartition(".")
    setattr(settings.value(section) if section else settings, name, value)
    settings.origins[key] = origin


# --------------------------------------------------------------------------- environment, command line


def variable_name(key: str) -> str:
    return PREFIX + key.replace(".", "_").upper()


def _read_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    # Lists other than commands cannot be set by a variable: there is no usual notation for them.
    keys = {variable_name(key): key for key, check in VALIDATORS.items() if check is not validators.strings}
    for name in sorted(environ):
        if key := keys.get(name):
            try:
                value = VALIDATORS[key](_parse_variable(key, environ[name]))
            except InvalidValueError as error:
                settings.problems.append(Problem(None, None, name, str(error)))
            else:
                _assign(settings, key, value, Origin("environment", variable=name))
        elif meant := _similar_variable(name, keys):
            settings.problems.append(Problem(None, None, name, f"ignored; did you mean {meant}?"))


def _similar_variable(name: str, variables: Iterable[str]) -> str | None:
    """Return the known variable most similar to `name`, if any.

    Return None for a name without `PREFIX`, and for those that are not settings.
    """
    if not name.startswith(PREFIX) or name in (f"{PREFIX}HOME", TOKEN_VARIABLE):
        return None
    meant = closest_match(name.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in variables])
    return meant and PREFIX + meant


def _parse_variable(key: str, text: str) -> Any:
    """Return the value of an environment variable, read as TOML. Text settings and invalid TOML stay text."""
    if VALIDATORS[key] in (validators.text, validators.policy, validators.traceparent):
        return text
    try:
        parsed = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _override(settings: Settings, key: str, value: Any, cwd: Path) -> None:
    try:
        value = VALIDATORS[key](value)
    except InvalidValueError as error:
        raise UsageError(f"{key}: {error}.") from None
    if key == DIRECTORIES:
        value = [validators.resolve_path(cwd, name) for name in value]
        for directory in value:
            if not directory.is_dir():
                raise UsageError(f"The directory {directory} does not exist.")
    _assign(settings, key, value, Origin("command line"))

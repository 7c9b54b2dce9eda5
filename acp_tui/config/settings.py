"""The settings in force, and where each of them comes from.

Layers, each over the one before: built in, `config.toml`, the project's `.acp-tui.toml`, the environment,
the command line. Nothing here stops the start: what is wrong becomes a `Problem` and is not used.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config import checks, mcp, toml_document, user_agents
from acp_tui.config.checks import WrongValueError
from acp_tui.config.early_settings import flatten_bindings, join_keys
from acp_tui.config.paths import config_file as config_file
from acp_tui.config.paths import paths
from acp_tui.config.paths import project_file as project_file
from acp_tui.config.problems import Problem, closest_match
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

PREFIX = "ACP_TUI_"
"""Of environment variables: `ACP_TUI_TIMEOUTS_SESSION=90` sets `timeouts.session`."""


@dataclass(slots=True)
class Timeouts:
    """Seconds after which an agent that has not answered is given up."""

    initialize: float = 60.0
    session: float = 60.0


@dataclass(slots=True)
class Log:
    """What is kept of each session."""

    enabled: bool = True
    keep_sessions: int = 200
    keep_bytes: int = 1_000_000_000
    max_session_bytes: int = 100_000_000  # where the recording of one session ends


@dataclass(slots=True)
class Workspace:
    """What the client serves, beside the working directory."""

    additional_directories: list[Path] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)  # patterns beside the built-in ones
    max_baseline_file_size: int = 5_000_000  # larger files cannot be reverted


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from."""

    layer: str  # built in | config | project | environment | command line
    file: Path | None = None
    line: int | None = None
    variable: str | None = None

    def __str__(self) -> str:
        """In words, with file and line or the variable's name."""
        if self.file is not None:
            return str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return f"{self.layer} {self.variable}" if self.variable else self.layer


@dataclass(slots=True)
class Settings:
    """Everything that can be set. The defaults are the built-in layer."""

    agent: str | None = None  # the one that is started when none is named
    policy: str | None = None  # None: each command has its own default
    theme: str = "dark"  # the colours of the screen
    panes: str = "none"  # which of them is open beside a conversation that begins
    keys: dict[str, str] = field(default_factory=dict)  # by the action's id, which only the screen knows
    notify: str = "all"  # how the user is called who looks elsewhere
    notify_command: list[str] = field(default_factory=list)  # … and a program of theirs
    timeouts: Timeouts = field(default_factory=Timeouts)
    log: Log = field(default_factory=Log)
    workspace: Workspace = field(default_factory=Workspace)
    mcp_servers: list[mcp.Server] = field(default_factory=list)
    agents: dict[str, user_agents.UserAgent] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)  # by dotted key; not there: built in
    problems: list[Problem] = field(default_factory=list)

    def value(self, key: str) -> Any:
        """The value of a dotted key."""
        found: Any = self
        for name in key.split("."):
            found = getattr(found, name)
        return found

    def origin(self, key: str) -> Origin:
        """Where the value of a dotted key comes from."""
        return self.origins.get(key, BUILT_IN)


def find_origin(cwd: Path, key: str) -> Origin:
    """Return where a setting comes from. Reads all settings again: for error messages only."""
    return load(cwd).origin(key)


BUILT_IN = Origin("built in")
DIRECTORIES = "workspace.additional_directories"

CHECKS: dict[str, Callable[[Any], Any]] = {
    "agent": checks.text,
    "policy": checks.policy,
    "theme": checks.text,
    "panes": checks.panes,
    "notify": checks.notify,
    "notify_command": checks.command,
    "timeouts.initialize": checks.seconds,
    "timeouts.session": checks.seconds,
    "log.enabled": checks.boolean,
    "log.keep_sessions": checks.count,
    "log.keep_bytes": checks.size,
    "log.max_session_bytes": checks.size,
    DIRECTORIES: checks.strings,
    "workspace.sensitive": checks.strings,
    "workspace.max_baseline_file_size": checks.size,
}
"""Every key that holds one value; `mcp_servers`, `agents` and `keys` hold entries."""

SECTIONS = {key.partition(".")[0] for key in CHECKS if "." in key}
TABLE_KEYS = frozenset({"mcp_servers", "agents", "keys"})
PROJECT_KEYS = ("agent", "theme", "panes")
"""What a project's file may set: a folder from elsewhere must not choose commands, servers or rules."""


def load(
    cwd: Path, *, overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """The settings in force in a directory.

    `overrides` are values of the command line by dotted key, where None means that nothing was said.
    """
    settings = Settings()
    _read_config(settings, toml_document.read(config_file()))
    _read_agents(settings, paths().config / "agents")
    _read_project(settings, toml_document.read(project_file(cwd)))
    _read_environment(settings, os.environ if environ is None else environ)
    for key, value in (overrides or {}).items():
        if value is not None:
            _override(settings, key, value, cwd)
    return settings


# --------------------------------------------------------------------------- files


def _read_config(settings: Settings, config: toml_document.Document) -> None:
    for name, value in config.data.items():
        if name == "mcp_servers":
            settings.mcp_servers = mcp.from_document(config)
        elif name == "agents":
            settings.agents = user_agents.from_document(config)
        elif name == "keys":
            _read_keys(settings, config, value)
        elif name in SECTIONS:
            _read_section(settings, config, name, value)
        elif name in CHECKS:
            _set(settings, config, (name,), value, "config")
        else:
            config.complain_of_unknown_key((name,), _top_level())
    settings.problems += config.problems


def _read_section(settings: Settings, config: toml_document.Document, section: str, value: Any) -> None:
    if not isinstance(value, dict):
        config.complain((section,), str(checks.wrong_value(f"a table, [{section}]", value)))
        return
    known = [key.partition(".")[2] for key in CHECKS if key.startswith(f"{section}.")]
    for name, item in value.items():
        if name in known:
            _set(settings, config, (section, name), item, "config")
        else:
            config.complain_of_unknown_key((section, name), known)


def _read_keys(settings: Settings, config: toml_document.Document, table: Any) -> None:
    if not isinstance(table, dict):
        config.complain(("keys",), str(checks.wrong_value("a table, [keys]", table)))
        return
    for path, value in flatten_bindings(table):
        keys, key = join_keys(value), ".".join(("keys", *path))
        if keys is None:
            config.complain(
                ("keys", *path), str(checks.wrong_value('a key such as "ctrl+j", or a list', value))
            )
        else:
            settings.keys[".".join(path)] = keys
            settings.origins[key] = Origin("config", config.file, config.line("keys", *path))


def _read_agents(settings: Settings, folder: Path) -> None:
    agents, problems = user_agents.from_folder(folder)
    settings.problems += problems
    for name, agent in agents.items():
        there = settings.agents.setdefault(name, agent)
        if there is not agent:
            sentence = f"ignored: {there.file}:{there.line} also defines {name}"
            settings.problems.append(Problem(agent.file, None, "", sentence))


def _read_project(settings: Settings, project: toml_document.Document) -> None:
    for name, value in project.data.items():
        if name in PROJECT_KEYS:
            _set(settings, project, (name,), value, "project")
        elif name in _top_level():
            project.complain(
                (name,),
                f"ignored: a project may only set {', '.join(PROJECT_KEYS)}; use config.toml",
            )
        else:
            project.complain_of_unknown_key((name,), _top_level())
    settings.problems += project.problems


def _top_level() -> set[str]:
    return {key.partition(".")[0] for key in CHECKS} | TABLE_KEYS


def _set(
    settings: Settings, source: toml_document.Document, path: tuple[str, ...], value: Any, layer: str
) -> None:
    key = ".".join(path)
    try:
        value = CHECKS[key](value)
    except WrongValueError as error:
        source.complain(path, str(error))
        return
    if key == DIRECTORIES:
        value = _directories(source, path, value)
    _assign(settings, key, value, Origin(layer, source.file, source.line(*path)))


def _directories(source: toml_document.Document, path: tuple[str, ...], names: list[str]) -> list[Path]:
    """Relative ones count from the file's folder; one that is missing is left out."""
    found = []
    for position, name in enumerate(names):
        directory = checks.resolve_path(source.file.parent, name)
        if directory.is_dir():
            found.append(directory)
        else:
            source.complain((*path, position), f"directory {directory} does not exist")
    return found


def _assign(settings: Settings, key: str, value: Any, origin: Origin) -> None:
    section, _, name = key.rpartition(".")
    setattr(settings.value(section) if section else settings, name, value)
    settings.origins[key] = origin


# --------------------------------------------------------------------------- environment, command line


def variable_name(key: str) -> str:
    """The environment variable that sets a key."""
    return PREFIX + key.replace(".", "_").upper()


def _read_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    # Lists have no form in a variable that everybody would guess.
    keys = {variable_name(key): key for key, check in CHECKS.items() if check is not checks.strings}
    for name in sorted(environ):
        if key := keys.get(name):
            try:
                value = CHECKS[key](_typed(key, environ[name]))
            except WrongValueError as error:
                settings.problems.append(Problem(None, None, name, str(error)))
            else:
                _assign(settings, key, value, Origin("environment", variable=name))
        elif meant := _misspelt(name, keys):
            settings.problems.append(Problem(None, None, name, f"ignored; did you mean {meant}?"))


def _misspelt(name: str, variables: Iterable[str]) -> str | None:
    """The variable that was meant; others that begin like ours are somebody else's."""
    if not name.startswith(PREFIX) or name == f"{PREFIX}HOME":
        return None
    meant = closest_match(name.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in variables])
    return meant and PREFIX + meant


def _typed(key: str, text: str) -> Any:
    """A variable is always text; numbers and booleans are written as in TOML."""
    if CHECKS[key] in (checks.text, checks.policy):
        return text
    try:
        written = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return written["value"] if len(written) == 1 else text


def _override(settings: Settings, key: str, value: Any, cwd: Path) -> None:
    try:
        value = CHECKS[key](value)
    except WrongValueError as error:
        raise UserError(f"{key}: {error}", exit_code=2) from None
    if key == DIRECTORIES:
        value = [checks.resolve_path(cwd, name) for name in value]
        for directory in value:
            if not directory.is_dir():
                raise UserError(f"directory {directory} does not exist", exit_code=2)
    _assign(settings, key, value, Origin("command line"))

"""The known agents, those of the user, and how each is started."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config import local_profiles
from acp_tui.config.installed_agents import InstalledAgent, installed_agents
from acp_tui.config.paths import paths
from acp_tui.config.remote_address import (
    TOKEN_VARIABLE,
    RemoteAddress,
    checked_url,
    is_remote_address,
    require_safe,
)
from acp_tui.config.validators import InvalidValueError, Problem, ProtocolChoice, closest_match
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings
    from acp_tui.config.user_agents import UserAgent


PACKAGE_RUNNERS = ("npx", "uvx")
"""Programs that download a package and run it."""
LOCAL_AGENT = local_profiles.DEFAULT
EXTRA_MISSING = (
    "it needs the extra `agent`, which `pip install 'acp-tui[agent]'` installs, or in a clone "
    "`pipx install --force '.[agent]'` or `uv tool install --force '.[agent]'`"
)
NO_MODEL = "no model is configured; run `acp-tui local` in a terminal, or set base_url and model in [local]"
_RUNNERS = re.compile(r"(python|pypy|node|deno|bun|bunx|npx|uv|uvx|pipx|ruby|perl|bash|zsh|sh)[\d.]*")
_RUN_WORDS = ("run", "x", "tool")
_CODE_OPTIONS = ("-c", "-e", "--eval")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_VERSION = re.compile(r"(?<=.)@.*")
_BUILT_IN = Path(__file__).with_name("agent_catalogue.toml")


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent with a short name, from the catalogue or the user's settings."""

    name: str
    title: str
    about: str = ""
    commands: tuple[tuple[str, ...], ...] = ()  # the first one whose program is found is used
    env: dict[str, str] = field(default_factory=dict)
    install: str | None = None  # a command that installs the agent
    key_variables: tuple[str, ...] = ()  # environment variables, any of which may contain the API key
    sign_in: str | None = None
    project_mcp: tuple[str, ...] = ()  # the project files in which the agent itself looks up MCP servers
    note: str | None = None
    homepage: str | None = None
    tested_version: str | None = None  # the version that acp-tui was tested with
    is_custom: bool = False  # whether the command is from the user's settings
    instead_of_mode: dict[str, str] = field(default_factory=dict)  # the mode for new sessions, by the agent's
    missing_file: str = "error"  # or "empty": how reads of missing files are answered
    once_option: str = ""  # the id of the permission option that means "this once", if several allow once
    question_answers: str = "standard"  # or "qwen": how its questions to the user are answered
    protocol: ProtocolChoice = "1"
    registry_id: str = ""  # the agent's name in the registry, if it differs
    address: RemoteAddress | None = None  # of an agent that no command starts; `commands` then has the URL
    is_remote: bool = False  # it runs on another machine
    folder: str | None = None  # of sessions, on that machine
    serve_workspace: bool = False  # it uses the files and programs of this machine
    installed: InstalledAgent | None = None  # set if `acp-tui agents install` has installed it
    source: str = "built in"  # or the user's file and line, or the registry
    obstacle: str = ""  # why it cannot be started, as a clause, if not for a missing program

    def find_command(self) -> list[str] | None:
        """Return the first command whose program is found (its path made absolute), or None.

        Instead of a command, an agent with an address has its URL.
        """
        if self.address is not None:
            return [self.address.url]
        for program, *arguments in self.commands:
            if path := shutil.which(program, path=self.env.get("PATH")):
                return [str(Path(path).absolute()), *arguments]
        return None

    @property
    def is_installed(self) -> bool:
        """Whether the agent can be started without being downloaded.

        A command that the user configured counts as installed even if its program is a package
        runner, such as `npx`.
        """
        command = self.find_command()
        return command is not None and (self.is_custom or Path(command[0]).name not in PACKAGE_RUNNERS)


def missing_agent_message(agent: KnownAgent) -> str:
    """Return why an agent cannot be started, and how to install it."""
    if agent.obstacle:
        return f"{agent.title} cannot be started: {agent.obstacle}"
    programs = [command[0] for command in agent.commands]
    own = [program for program in programs if program not in PACKAGE_RUNNERS]
    ways = [f"`{agent.install}`"] if agent.install else []
    ways += [f"{program} (which downloads it)" for program in programs if program in PACKAGE_RUNNERS]
    state = (
        "is not executable" if any("/" in name and Path(name).exists() for name in own) else "was not found"
    )
    sentence = f"{agent.title} cannot be started: {' or '.join(own or programs)} {state}"
    return f"{sentence}; install it with {', or install '.join(ways)}" if ways else sentence


@dataclass(slots=True)
class Launch:
    """A command that speaks ACP on its standard input and output, or the address of a remote agent."""

    name: str  # the short name; for a command line, the program's name
    title: str
    command: list[str]  # if there is an address, only its URL
    env: dict[str, str] = field(default_factory=dict)  # added to our own environment
    install_hint: str | None = None  # a command that installs the agent
    ad_hoc: bool = False  # given as a command line, so the name does not identify the agent
    missing_file_is_empty: bool = False  # reads of missing files return an empty string; see catalogue.toml
    once_option: str = ""  # the id of the permission option that means "this once"; see catalogue.toml
    has_qwen_questions: bool = False  # it asks the user as Qwen Code does; see `protocol/qwen_questions.py`
    instead_of_mode: dict[str, str] = field(default_factory=dict)  # as in `KnownAgent`
    project_mcp: tuple[str, ...] = ()  # a project's files from which the agent itself reads MCP servers
    protocol: ProtocolChoice = "1"
    address: RemoteAddress | None = None  # to connect to, in place of starting the command
    is_remote: bool = False  # the agent runs on another machine
    folder: str | None = None  # of sessions, on that machine
    serve_workspace: bool = False  # a remote agent uses the files and programs of this machine

    @property
    def has_remote_files(self) -> bool:
        """Whether the agent works on files that are not on this machine."""
        return self.is_remote and not self.serve_workspace

    def session_folder(self, cwd: str) -> str:
        """Return the folder of a session as the agent knows it. `cwd` is the one on this machine."""
        return self.folder or cwd


def launch_from_command(line: str) -> Launch:
    """Return the `Launch` for a command line, or for the address of a remote agent. Raises `UserError`."""
    try:
        command = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"--command cannot be split into words: {str(error).lower()}") from None
    if not command or not command[0]:
        raise UsageError("--command is empty: give it a program and its arguments")
    if is_remote_address(command[0]) and len(command) == 1:
        return _launch_from_address(command[0])
    if is_url(command[0]):
        raise UsageError(
            f"{escape_line(command[0])} is a URL, not a command that starts an agent. "
            "The address of a remote agent begins with wss:// or https://."
        )
    name = program_name(command)
    return Launch(name=name, title=name, command=command, ad_hoc=True)


def _launch_from_address(url: str) -> Launch:
    try:
        address = RemoteAddress(checked_url(url), token_variable=TOKEN_VARIABLE)
    except InvalidValueError as error:
        raise UsageError(f"The address cannot be used: {error}.") from None
    require_safe(address)
    return Launch(
        name=address.host,
        title=address.host,
        command=[url],
        ad_hoc=True,
        address=address,
        is_remote=True,
    )


def is_url(text: str) -> bool:
    """Return True for what starts with a scheme, such as `https://` or `ws://`."""
    return _URL.match(text) is not None


def program_name(command: Sequence[str]) -> str:
    """Return the program's name; for an interpreter or package runner, the name of its script or package."""
    program = Path(command[0]).name or command[0]
    if not _RUNNERS.fullmatch(program):
        return program
    for before, word in pairwise(command):
        if word in _CODE_OPTIONS:
            return program
        if not word or word.startswith("-") or word in _RUN_WORDS:
            continue
        return word if before == "-m" else _VERSION.sub("", Path(word).name) or program
    return program


def known_agents(settings: Settings) -> dict[str, KnownAgent]:
    """Return the built-in and the installed agents and those of the user's settings, by name.

    If several have the same name, the user's command is used, or else the installed agent.
    """
    built_in = _built_in()
    agents = {"demo": built_in["demo"], LOCAL_AGENT: _local_agent(settings), **built_in}
    for name, record in installed_agents().items():
        agents[name] = _with_installed(name, record)
    for name, entry in settings.agents.items():
        base = agents.get(name)
        if base or entry.command or entry.url:
            agents[name] = _customize(base or KnownAgent(name, name), entry)
    return agents


def settings_problems(settings: Settings) -> list[Problem]:
    """Return the problems found when the settings were read, and the problems with agents."""
    names = known_agents(settings)
    found = list(settings.problems)
    for name, entry in settings.agents.items():
        if name not in names:
            sentence = "`command` or `url` is missing, and there is no built-in agent of this name"
            found.append(Problem(entry.file, entry.line, f"agents.{name}", sentence))
    if settings.agent:
        origin = settings.origin("agent")
        if settings.agent not in names:
            found.append(
                Problem(origin.file, origin.line, "agent", _unknown_agent_message(settings.agent, settings))
            )
        elif origin.layer == "project" and not names[settings.agent].is_installed:
            sentence = (
                f"ignored: {settings.agent} is not installed, and a project can only choose installed agents"
            )
            found.append(Problem(origin.file, origin.line, "agent", sentence))
    return found


def agent_problems(name: str, settings: Settings) -> list[Problem]:
    """Return the problems in `[agents.NAME]` or `agents/NAME.toml`."""
    keys = (f"agents.{name}", LOCAL_AGENT) if name == LOCAL_AGENT else (f"agents.{name}",)
    own_file = paths().config / "agents" / f"{name}.toml"
    return [
        problem
        for problem in settings_problems(settings)
        if problem.key in keys
        or problem.key.startswith(tuple(f"{key}." for key in keys))
        or problem.file == own_file
    ]


def find_agent(name: str, settings: Settings) -> KnownAgent:
    """Return the agent `name`. Raises `UserError` if there is no usable agent of this name."""
    agents = known_agents(settings)
    if name in agents:
        return agents[name]
    if faults := agent_problems(name, settings):
        raise UsageError(f'The agent "{name}" cannot be used: {faults[0]}.')
    raise UsageError(_mistaken_name_message(name) or _unknown_agent_message(name, settings))


def resolve_launch(name: str, settings: Settings) -> Launch:
    """Return how to start the agent `name`. Raises `UserError` if the agent is unknown or not installed."""
    agent = find_agent(name, settings)
    command = agent.find_command()
    if command is None:
        raise UserError(missing_agent_message(agent))
    if agent.installed is not None:
        agent.installed.hold()
    if agent.address is not None:
        require_safe(agent.address)
    return Launch(
        name=name,
        title=agent.title,
        command=command,
        env=dict(agent.env),
        install_hint=agent.install,
        missing_file_is_empty=agent.missing_file == "empty",
        once_option=agent.once_option,
        instead_of_mode=agent.instead_of_mode,
        has_qwen_questions=agent.question_answers == "qwen",
        project_mcp=agent.project_mcp,
        protocol=agent.protocol,
        address=agent.address,
        is_remote=agent.is_remote,
        folder=agent.folder,
        serve_workspace=agent.serve_workspace,
    )


def require_command(launch: Launch) -> None:
    """Raise `UsageError` for an agent that is not started by a command."""
    if launch.address is not None:
        raise UsageError(
            f"{launch.title} runs on another machine, at {launch.command[0]}: no command starts it."
        )


@cache
def _built_in() -> dict[str, KnownAgent]:
    # -P: the project may contain modules named `acp_tui` or `acp`, which must not be imported.
    demo = KnownAgent(
        name="demo",
        title="Demo agent",
        about="a script that works offline and shows every feature of the protocol",
        commands=((sys.executable, "-P", "-m", "acp_tui.demo"),),
        tested_version="comes with acp-tui",
    )
    entries = tomllib.loads(_BUILT_IN.read_text(encoding="utf-8"))
    agents = {"demo": demo}
    for name, entry in entries.items():
        entry["commands"] = tuple(tuple(shlex.split(line)) for line in entry["commands"])
        for key in ("key_variables", "project_mcp"):
            entry[key] = tuple(entry.get(key, ()))
        agents[name] = KnownAgent(name=name, **entry)
    return agents


def _local_agent(settings: Settings) -> KnownAgent:
    """Return the built-in agent with the models of the settings."""
    agent = KnownAgent(
        name=LOCAL_AGENT,
        title="Local agent",
        about="acp-tui's own agent, for any model: Ollama, llama.cpp, vLLM and others",
        commands=((sys.executable, "-P", "-m", "acp_tui.local_agent"),),
        tested_version="comes with acp-tui",
    )
    if any(find_spec(module) is None for module in ("pydantic_ai", "openai")):
        return replace(agent, commands=(), obstacle=EXTRA_MISSING)
    if not settings.local.profiles:
        about_models = (f"{LOCAL_AGENT}.", f"agents.{LOCAL_AGENT}.")
        faults = [one for one in settings.problems if f"{one.key}.".startswith(about_models)]
        faults += [one for one in settings.problems if one.file == local_profiles.default_file()]
        return replace(agent, commands=(), obstacle=str(faults[0]) if faults else NO_MODEL)
    try:
        arguments, env = settings.local.launch_parts()
    except UserError as error:
        return replace(agent, commands=(), obstacle=str(error))
    return replace(agent, commands=((*agent.commands[0], *arguments),), env=env)


def built_in_agent(name: str) -> KnownAgent | None:
    """Return the built-in agent with this name, here or in the registry."""
    agents = _built_in()
    return agents.get(name) or next((one for one in agents.values() if one.registry_id == name), None)


def _with_installed(name: str, record: InstalledAgent) -> KnownAgent:
    """Return an installed agent. What is known about a built-in agent applies to the installed one, too."""
    known = built_in_agent(name) or KnownAgent(name, name)
    is_same_name = name in _built_in()
    return replace(
        known,
        name=name,
        title=known.title if is_same_name else record.name,
        about=known.about if is_same_name else record.about,
        commands=(record.command,),
        env=record.env,
        install=f"acp-tui agents install {name}",
        homepage=record.homepage or known.homepage,
        registry_id="",
        installed=record,
        source=f"installed from {record.registry}",
    )


def _customize(base: KnownAgent, entry: UserAgent) -> KnownAgent:
    """Return a copy of an agent with the user's changes applied."""
    agent = replace(
        base,
        title=entry.title or base.title,
        env={**base.env, **entry.env},
        install=entry.install or base.install,
        missing_file=entry.missing_file or base.missing_file,
        once_option=entry.once_option or base.once_option,
        question_answers=entry.question_answers or base.question_answers,
        protocol=entry.protocol or base.protocol,
        source=str(entry.file) if entry.line is None else f"{entry.file}:{entry.line}",
    )
    if entry.remote:
        agent = replace(agent, is_remote=True, folder=entry.folder, serve_workspace=entry.serve_workspace)
    if command := entry.command or ([entry.url] if entry.url else None):
        agent = replace(  # these fields of `base` are about its own command
            agent,
            commands=(tuple(command),),
            address=entry.address,
            is_remote=entry.remote or entry.url is not None,
            folder=entry.folder,
            serve_workspace=entry.serve_workspace,
            install=entry.install,
            note=None,
            tested_version=None,
            installed=None,
            obstacle="",
            is_custom=True,
        )
    return agent


def _mistaken_name_message(name: str) -> str | None:
    """Return what to do instead if `name` is a URL, a folder or a program; None if it is none of these."""
    path = Path(name)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError:  # too long, or in a folder that cannot be searched
        return None
    if is_remote_address(name):
        return f'"{name}" is an address; this needs an agent that a command starts on this machine.'
    if is_url(name):
        return f'"{name}" is a URL, but the address of a remote agent begins with wss:// or https://.'
    if is_folder:
        return (
            f'"{name}" is a folder, not the name of an agent. The agent works in the current folder; '
            "--cwd DIR chooses another."
        )
    if is_file:
        return f"\"{name}\" is a file, not the name of an agent. --command 'PROG ARGS' starts any program."
    return None


def _unknown_agent_message(name: str, settings: Settings) -> str:
    meant = closest_match(name, known_agents(settings))
    hint = f"; did you mean {meant}?" if meant else "."
    return (
        f'Unknown agent "{name}"{hint} `acp-tui agents` lists the known agents, '
        "and --command 'PROG ARGS' starts any other."
    )

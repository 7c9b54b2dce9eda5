"""The agents known by name: those that come with acp-tui, and the user's own over them."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.agents.launch import Launch
from acp_tui.config.paths import paths
from acp_tui.config.problems import Problem, closest_match
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.config.settings import Settings
    from acp_tui.config.user_agents import UserAgent

Which = Callable[[str], str | None]
RUNNERS = ("npx", "uvx")
"""Programs that download a package and run it."""

_BUILT_IN = Path(__file__).with_name("catalogue.toml")


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent with a short name."""

    name: str
    title: str
    about: str = ""
    run: tuple[tuple[str, ...], ...] = ()  # commands; the first whose program is there is taken
    env: dict[str, str] = field(default_factory=dict)
    install: str | None = None  # a command
    keys: tuple[str, ...] = ()  # environment variables, any of which it takes
    sign_in: str | None = None
    note: str | None = None
    homepage: str | None = None
    tried: str | None = None  # the version acp-tui was tried with
    own: bool = False  # the user's own command
    missing_file: str = "error"  # or "empty": how reading a file that is not there is answered
    source: str = "built in"  # or the user's file and line

    def found(self, which: Which | None = None) -> list[str] | None:
        """Return the command to run, with the program's absolute path; None if no program was found."""
        which = which or partial(shutil.which, path=self.env.get("PATH"))
        for program, *arguments in self.run:
            if path := which(program):
                return [str(Path(path).absolute()), *arguments]
        return None

    @property
    def is_installed(self) -> bool:
        """Whether the agent starts without first being downloaded. A command of the user's own counts."""
        command = self.found()
        return command is not None and (self.own or Path(command[0]).name not in RUNNERS)


def known_agents(settings: Settings) -> dict[str, KnownAgent]:
    """Return all agents by name, including the user's own."""
    agents = dict(_built_in())
    for name, entry in settings.agents.items():
        base = agents.get(name)
        if base or entry.command:
            agents[name] = _customised(base or KnownAgent(name, name), entry)
    return agents


def settings_problems(settings: Settings) -> list[Problem]:
    """Return all problems in the settings, including those about agents."""
    names = known_agents(settings)
    found = list(settings.problems)
    for name, entry in settings.agents.items():
        if name not in names:
            sentence = "it has no command, and acp-tui knows no agent of this name"
            found.append(Problem(entry.file, entry.line, f"agents.{name}", sentence))
    if settings.agent:
        origin = settings.origin("agent")
        if settings.agent not in names:
            found.append(Problem(origin.file, origin.line, "agent", _unknown(settings.agent, settings)))
        elif origin.layer == "project" and not names[settings.agent].is_installed:
            sentence = (
                f"ignored: {settings.agent} is not installed, and a project can only choose installed agents"
            )
            found.append(Problem(origin.file, origin.line, "agent", sentence))
    return found


def agent_problems(name: str, settings: Settings) -> list[Problem]:
    """Return the problems in the user's settings of one agent."""
    key = f"agents.{name}"
    own_file = paths().config / "agents" / f"{name}.toml"
    return [
        problem
        for problem in settings_problems(settings)
        if problem.key == key or problem.key.startswith(f"{key}.") or problem.file == own_file
    ]


def find_agent(name: str, settings: Settings) -> KnownAgent:
    """Return the agent of this name. Raises `UserError`."""
    agents = known_agents(settings)
    if name in agents:
        return agents[name]
    if faults := agent_problems(name, settings):
        raise UserError(f"the agent {name!r} cannot be used: {faults[0]}", exit_code=2)
    raise UserError(_unknown(name, settings), exit_code=2)


def resolve(name: str, settings: Settings, *, which: Which | None = None) -> Launch:
    """Return how to start the agent of this name. Raises `UserError` if it is not installed."""
    agent = find_agent(name, settings)
    command = agent.found(which)
    if command is None:
        raise UserError(missing_agent_message(agent))
    return Launch(
        name=name,
        title=agent.title,
        command=command,
        env=dict(agent.env),
        install_hint=agent.install,
        missing_file_is_empty=agent.missing_file == "empty",
    )


def launch_from_command(line: str) -> Launch:
    """Return how to start an agent from a command line. Raises `UserError`."""
    try:
        command = shlex.split(line)
    except ValueError as error:
        raise UserError(f"--command cannot be split into words: {str(error).lower()}", exit_code=2) from None
    if not command or not command[0]:
        raise UserError("--command is empty: give it a program and its arguments", exit_code=2)
    name = program_name(command)
    return Launch(name=name, title=name, command=command, ad_hoc=True)


def program_name(command: Sequence[str]) -> str:
    """What to call it: the program; of one that only runs another, such as `python3` or `npx`, that other."""
    program = Path(command[0]).name or command[0]
    if not _RUNNERS.fullmatch(program):
        return program
    for before, word in pairwise(command):
        if word in _CODE:
            return program
        if not word or word.startswith("-") or word in _RUN:
            continue
        return word if before == "-m" else _VERSION.sub("", Path(word).name) or program
    return program


_RUNNERS = re.compile(r"(python|pypy|node|deno|bun|bunx|npx|uv|uvx|pipx|ruby|perl|bash|zsh|sh)[\d.]*")
_RUN = ("run", "x", "tool")
_CODE = ("-c", "-e", "--eval")
_VERSION = re.compile(r"(?<=.)@.*")


@cache
def _built_in() -> dict[str, KnownAgent]:
    # Without the current directory on the path: a project's own module `acp_tui` or `acp` is not ours.
    demo = KnownAgent(
        name="demo",
        title="Demo agent",
        about="scripted and offline: shows every feature of the protocol",
        run=((sys.executable, "-P", "-m", "acp_tui.demo"),),
        tried="comes with acp-tui",
    )
    entries = tomllib.loads(_BUILT_IN.read_text(encoding="utf-8"))
    agents = {"demo": demo}
    for name, entry in entries.items():
        entry["run"] = tuple(tuple(shlex.split(line)) for line in entry["run"])
        entry["keys"] = tuple(entry.get("keys", ()))
        agents[name] = KnownAgent(name=name, **entry)
    return agents


def _customised(base: KnownAgent, entry: UserAgent) -> KnownAgent:
    """Apply the user's settings to a known agent."""
    agent = replace(
        base,
        title=entry.title or base.title,
        env={**base.env, **entry.env},
        install=entry.install or base.install,
        missing_file=entry.missing_file or base.missing_file,
        source=str(entry.file) if entry.line is None else f"{entry.file}:{entry.line}",
    )
    if entry.command:  # what installs and was tried is the built-in command, not this one
        run = (tuple(entry.command),)
        agent = replace(agent, run=run, install=entry.install, note=None, tried=None, own=True)
    return agent


def _unknown(name: str, settings: Settings) -> str:
    meant = closest_match(name, known_agents(settings))
    hint = f"did you mean {meant}? " if meant else ""
    return (
        f"unknown agent {name!r}; {hint}`acp-tui agents` lists the known ones, "
        "and --command 'PROGRAM ARGS' starts any other"
    )


def missing_agent_message(agent: KnownAgent) -> str:
    """Explain why an agent cannot be started, and how to install it."""
    programs = [command[0] for command in agent.run]
    own = [program for program in programs if program not in RUNNERS]
    ways = [f"`{agent.install}`"] if agent.install else []
    ways += [f"{program} (which downloads it)" for program in programs if program in RUNNERS]
    state = (
        "is not executable" if any("/" in name and Path(name).exists() for name in own) else "was not found"
    )
    sentence = f"{agent.title} cannot be started: {' or '.join(own or programs)} {state}"
    return f"{sentence}; install it with {', or install '.join(ways)}" if ways else sentence

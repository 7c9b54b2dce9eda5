"""Agents known by name, from the built-in catalogue and the user's settings."""

from __future__ import annotations

import shlex
import sys
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.agents.known_agent import KnownAgent, missing_agent_message
from acp_tui.agents.launch import Launch, is_url
from acp_tui.config.paths import paths
from acp_tui.config.problems import Problem, closest_match
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings
    from acp_tui.config.user_agents import UserAgent

_BUILT_IN = Path(__file__).with_name("catalogue.toml")


def known_agents(settings: Settings) -> dict[str, KnownAgent]:
    """Return the built-in agents and those defined in the user's settings, by name."""
    agents = dict(_built_in())
    for name, entry in settings.agents.items():
        base = agents.get(name)
        if base or entry.command:
            agents[name] = _customize(base or KnownAgent(name, name), entry)
    return agents


def settings_problems(settings: Settings) -> list[Problem]:
    """Return the problems found when the settings were read, and the problems with agents."""
    names = known_agents(settings)
    found = list(settings.problems)
    for name, entry in settings.agents.items():
        if name not in names:
            sentence = "`command` is missing, and there is no built-in agent of this name"
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
    key = f"agents.{name}"
    own_file = paths().config / "agents" / f"{name}.toml"
    return [
        problem
        for problem in settings_problems(settings)
        if problem.key == key or problem.key.startswith(f"{key}.") or problem.file == own_file
    ]


def find_agent(name: str, settings: Settings) -> KnownAgent:
    """Return the agent `name`. Raises `UserError` if there is no usable agent of this name."""
    agents = known_agents(settings)
    if name in agents:
        return agents[name]
    if faults := agent_problems(name, settings):
        raise UserError(f'The agent "{name}" cannot be used: {faults[0]}.', exit_code=2)
    raise UserError(_mistaken_name_message(name) or _unknown_agent_message(name, settings), exit_code=2)


def resolve_launch(name: str, settings: Settings) -> Launch:
    """Return how to start the agent `name`. Raises `UserError` if the agent is unknown or not installed."""
    agent = find_agent(name, settings)
    command = agent.find_command()
    if command is None:
        raise UserError(missing_agent_message(agent))
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
        source=str(entry.file) if entry.line is None else f"{entry.file}:{entry.line}",
    )
    if entry.command:  # these fields of `base` are about its own command
        agent = replace(
            agent,
            commands=(tuple(entry.command),),
            install=entry.install,
            note=None,
            tested_version=None,
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
    if is_url(name):
        return f'"{name}" is a URL, not the name of an agent.'
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

"""`acp-tui agents`: lists the known agents and shows how each is started."""

from __future__ import annotations

import os
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.options import add_action, add_json_option, print_problem_count
from acp_tui.config import agent_catalogue
from acp_tui.config import settings as config
from acp_tui.config.agent_catalogue import PACKAGE_RUNNERS, KnownAgent
from acp_tui.console import aligned, labelled, print_json
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_json_option(add_action(actions, "list", "list all known agents (default)"))
    show = add_action(actions, "show", "show how an agent is started and what it needs (`show` is optional)")
    show.add_argument("name", metavar="NAME", help="name of the agent")
    add_json_option(show)


def run(args: argparse.Namespace) -> int:
    """Print the list of agents, or the details of one agent."""
    settings = config.load(Path.cwd())
    if getattr(args, "json", False):
        print_json(_json_of(args, settings))
        return 0
    lines = (
        _show(agent_catalogue.find_agent(args.name, settings), settings)
        if args.action == "show"
        else _list(settings)
    )
    print("\n".join(lines))
    print_problem_count(settings)
    return 0


def _json_of(args: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    if args.action == "show":
        return _as_json(agent_catalogue.find_agent(args.name, settings), settings)
    return {
        "agents": [_as_json(agent, settings) for agent in agent_catalogue.known_agents(settings).values()]
    }


def _as_json(agent: KnownAgent, settings: Settings) -> dict[str, Any]:
    command = agent.find_command()
    return {
        "name": agent.name,
        "title": agent.title,
        "about": agent.about,
        "default": agent.name == settings.agent,
        "installed": agent.is_installed,
        "command": None if command is None else [redact_text(word) for word in command],
        "environment": list(agent.env),
        "install": agent.install,
        "keyVariables": list(agent.key_variables),
        "signIn": agent.sign_in,
        "note": agent.note,
        "testedVersion": agent.tested_version,
        "custom": agent.is_custom,
        "homepage": agent.homepage,
        "source": agent.source,
        "problems": [str(problem) for problem in agent_catalogue.agent_problems(agent.name, settings)],
    }


def _list(settings: Settings) -> list[str]:
    rows = [("NAME", "TITLE", "STATE", "TESTED")]
    for agent in agent_catalogue.known_agents(settings).values():
        title = textwrap.shorten(agent.title, 30, placeholder="…")
        title += " (default)" if agent.name == settings.agent else ""
        tested = "yours" if agent.is_custom else "tested" if agent.tested_version else "untested"
        rows.append((agent.name, title, _state(agent), tested))
    return [*aligned(rows), "", "Run `acp-tui agents NAME` for the command, install hint and sign-in."]


def _state(agent: KnownAgent) -> str:
    command = agent.find_command()
    if command is None:
        return "missing"
    runner = Path(command[0]).name
    return f"via {runner}" if runner in PACKAGE_RUNNERS else "installed"


def _show(agent: KnownAgent, settings: Settings) -> list[str]:
    fields = [("Agent", f"{agent.name}: {agent.title}" + (f", {agent.about}" if agent.about else ""))]
    command = agent.find_command()
    if command:
        fields.append(("Command", redact_text(shlex.join(command))))
    else:
        programs = redact_text(" or ".join(shlex.join(command) for command in agent.commands))
        fields.append(("Command", f"not installed: {programs}"))
    fields += [("Environment", ", ".join(agent.env))] if agent.env else []
    fields += [("Install", agent.install)] if agent.install else []
    if agent.key_variables:
        states = (f"{name} ({'set' if _is_set(name, agent) else 'not set'})" for name in agent.key_variables)
        fields.append(("API key", ", or ".join(states)))
    fields += [("Sign-in", agent.sign_in)] if agent.sign_in else []
    fields += [("Note", agent.note)] if agent.note else []
    if agent.missing_file == "empty":
        fields.append(("Files", "when the agent reads a missing file, it gets empty text, not an error"))
    if agent.once_option:
        fields.append(("Permissions", f'of several options that allow once, "{agent.once_option}" is used'))
    if agent.question_answers == "qwen":
        fields.append(("Questions", "the answers to its questions are sent in `answers`, a field of its own"))
    if agent.project_mcp:
        fields.append(("MCP servers", f"the agent itself reads {', '.join(agent.project_mcp)} in a project"))
    fields += [] if agent.is_custom else [("Tested", agent.tested_version or "untested")]
    fields += [("Home page", agent.homepage)] if agent.homepage else []
    fields.append(("Source", agent.source))
    fields += [("Problem", str(problem)) for problem in agent_catalogue.agent_problems(agent.name, settings)]
    return labelled(fields, commands=("Command", "Install"))


def _is_set(variable: str, agent: KnownAgent) -> bool:
    return bool(agent.env.get(variable) or os.environ.get(variable))

"""`acp-tui agents`: lists the known agents, and installs others from the ACP registry."""

from __future__ import annotations

import os
import shlex
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from acp_tui.cli.options import FAILED, OK, add_action, add_json_option, confirm, print_problem_count
from acp_tui.config import agent_catalogue
from acp_tui.config import settings as config
from acp_tui.config.agent_catalogue import PACKAGE_RUNNERS, KnownAgent
from acp_tui.console import (
    ConsoleStatusLine,
    aligned,
    format_moment,
    labelled,
    pluralize,
    print_json,
    print_message,
    truncate,
    wrapped,
)
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import redact_text
from acp_tui.text_format import display_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Coroutine

    from acp_tui.agent_registry.installation import InstallPlan
    from acp_tui.agent_registry.registry import Registry, RegistryAgent
    from acp_tui.config.installed_agents import InstalledAgent
    from acp_tui.config.settings import Settings


MAX_PROBLEMS = 20
"""The number of problems of the registry's list that are printed."""
MAX_ABOUT = 78
"""The number of columns of a description in the list of the registry."""
Result = TypeVar("Result")


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_json_option(add_action(actions, "list", "list all known agents (default)"))
    show = add_action(actions, "show", "show how an agent is started and what it needs (`show` is optional)")
    show.add_argument("name", metavar="NAME", help="name of the agent")
    add_json_option(show)
    add_action(actions, "update", "fetch the list of agents from the ACP registry")
    search = add_action(actions, "search", "search the list that was fetched last")
    search.add_argument("words", nargs="*", metavar="WORD", help="words of the name or description")
    add_json_option(search)
    install = add_action(actions, "install", "install an agent of the ACP registry, for acp-tui only")
    install.add_argument("name", metavar="NAME", help="name of the agent in the registry")
    install.add_argument(
        "--version", metavar="VERSION", help="another version than the registry's (packages)"
    )
    about = "binary, npx (npm) or uvx (PyPI), if the agent is offered in several ways"
    install.add_argument("--kind", choices=("binary", "npx", "uvx"), help=about)
    upgrade = add_action(actions, "upgrade", "upgrade installed agents to the versions in the list")
    upgrade.add_argument("name", nargs="?", metavar="NAME", help="upgrade only this agent")
    remove = add_action(actions, "remove", "remove an agent that acp-tui has installed")
    remove.add_argument("name", metavar="NAME", help="name of the agent")
    for parser_ in (install, upgrade, remove):
        parser_.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace) -> int:
    """Carry out the action, by default listing the agents."""
    settings = config.load(Path.cwd())
    if args.action in _REGISTRY_ACTIONS:
        print_problem_count(settings)
        return _REGISTRY_ACTIONS[args.action](args, settings)
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
        "version": agent.installed.version if agent.installed else None,
        "kind": agent.installed.kind if agent.installed else None,
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
        tested = "tested" if agent.tested_version else "untested"
        tested = "yours" if agent.is_custom else "from the registry" if agent.installed else tested
        rows.append((agent.name, title, _state(agent), tested))
    return [
        *aligned(rows),
        "",
        "Run `acp-tui agents NAME` for the command, install hint and sign-in.",
        "Run `acp-tui agents search` for more agents, which acp-tui can install.",
    ]


def _state(agent: KnownAgent) -> str:
    command = agent.find_command()
    if command is None:
        return "not set up" if agent.obstacle else "missing"
    if agent.installed is not None:
        return f"installed {agent.installed.version}"
    runner = Path(command[0]).name
    return f"via {runner}" if runner in PACKAGE_RUNNERS else "installed"


def _show(agent: KnownAgent, settings: Settings) -> list[str]:
    fields = [("Agent", f"{agent.name}: {agent.title}" + (f", {agent.about}" if agent.about else ""))]
    command = agent.find_command()
    if command:
        fields.append(("Command", redact_text(shlex.join(command))))
    elif agent.obstacle:
        fields.append(("Not set up", agent.obstacle))
    else:
        programs = redact_text(" or ".join(shlex.join(command) for command in agent.commands))
        fields.append(("Command", f"not installed: {programs}"))
    if record := agent.installed:
        fields.append(("Version", f"{record.version}, {record.kind}: {record.source}"))
        fields += [("SHA-256", record.sha256)] if record.sha256 else []
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


# --------------------------------------------------------------------------- the registry


def _update(_: argparse.Namespace, settings: Settings) -> int:
    """Fetch the list. If that fails, say which list is still there."""
    from acp_tui.agent_registry import registry

    address = settings.registry.url
    before = registry.load(address)
    try:
        listed = _run(registry.update(address))
    except UserError as error:
        if before is None:
            raise
        print_message(f"{error} The list of {_date(before)} is still used.")
        return FAILED
    for problem in listed.problems[:MAX_PROBLEMS]:
        print_message(problem)
    if (more := len(listed.problems) - MAX_PROBLEMS) > 0:
        print_message(f"{pluralize(more, 'more problem')} in the list.")
    usable = sum(bool(agent.distributions) for agent in listed.agents.values())
    print(f"{pluralize(len(listed.agents), 'agent')}, {usable:,} of them can be installed here.")
    known = set(before.agents) if before else set(listed.agents)
    if added := sorted(set(listed.agents) - known):
        print("\n".join(labelled([("New", ", ".join(added))])))
    _print_upgrades(listed, settings)
    return OK


def _print_upgrades(listed: Registry, settings: Settings) -> None:
    from acp_tui.agent_registry.installation import plan_upgrades

    plans, _ = plan_upgrades(listed, settings)
    for plan in plans:
        print("\n".join(labelled([("Newer", plan.title.partition(" ")[2])])))
    if plans:
        print("Run `acp-tui agents upgrade` to upgrade.")


def _search(args: argparse.Namespace, settings: Settings) -> int:
    """List the agents of the fetched list that match all words."""
    from acp_tui.config.installed_agents import installed_agents

    listed, installed = _load(settings), installed_agents()
    found = listed.search(args.words)
    if args.json:
        print_json(
            {
                "registry": listed.address,
                "fetchedAt": listed.fetched_at,
                "agents": [_listed_as_json(agent, installed.get(agent.id)) for agent in found],
            }
        )
        return OK if found else FAILED
    rows = [("ID", "NAME", "VERSION", "KIND", "INSTALLED")]
    for agent in found:
        kinds = ", ".join(one.kind for one in agent.distributions) or "not available here"
        record = installed.get(agent.id)
        rows.append(
            (agent.id, truncate(agent.name, 24), agent.version, kinds, record.version if record else "")
        )
    if found:
        head, *lines = aligned(rows)
        print(head)
        for agent, line in zip(found, lines, strict=True):
            print(line)
            print(f"  {truncate(agent.about, MAX_ABOUT)}")
    else:
        print_message(f"No agent matches {' '.join(args.words)}.")
    print_message(f"The list is of {_date(listed)}; `acp-tui agents update` fetches it again.")
    return OK if found else FAILED


def _listed_as_json(agent: RegistryAgent, record: InstalledAgent | None) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.name,
        "version": agent.version,
        "about": agent.about,
        "kinds": [one.kind for one in agent.distributions],
        "unusable": agent.unusable or None,
        "installed": record.version if record else None,
        "license": agent.license or None,
        "authors": agent.authors or None,
        "homepage": agent.homepage or None,
    }


def _install(args: argparse.Namespace, settings: Settings) -> int:
    from acp_tui.agent_registry.installation import plan_installation

    plan = plan_installation(_load(settings), args.name, settings, version=args.version, kind=args.kind)
    _print_plan(plan)
    if not args.yes and not confirm("Install it?", done="installed", verb="install"):
        return FAILED
    return _carry_out(plan, settings)


def _upgrade(args: argparse.Namespace, settings: Settings) -> int:
    from acp_tui.agent_registry.installation import plan_upgrades

    plans, reasons = plan_upgrades(_load(settings), settings, args.name)
    for reason in reasons:
        print(reason)
    if not plans:
        if not reasons:
            print("No agents are installed from the registry.")
        return OK
    for plan in plans:
        _print_plan(plan)
    question = f"Upgrade {pluralize(len(plans), 'agent')}?"
    if not args.yes and not confirm(question, done="upgraded", verb="upgrade"):
        return FAILED
    code = OK
    for plan in plans:
        try:
            code = max(code, _carry_out(plan, settings))
        except UserError as error:
            print_message(str(error))
            code = FAILED
    return code


def _remove(args: argparse.Namespace, _: Settings) -> int:
    from acp_tui.agent_registry.installation import find_installed, remove

    agent = find_installed(args.name)
    question = f"Remove {agent.name} {agent.version} from {display_path(str(agent.path))}?"
    if not args.yes and not confirm(escape_line(question), done="removed", verb="remove"):
        return FAILED
    if _run(remove(agent)):
        print(f"{agent.id} {agent.version} was removed.")
    else:
        print(
            f"{agent.id} {agent.version} was removed. Its files are still in use, and will be deleted later."
        )
    return OK


def _print_plan(plan: InstallPlan) -> None:
    from acp_tui.agent_registry.installation import WHAT_HAPPENS

    print(escape_line(plan.title))
    print("\n".join(labelled(plan.facts(), "  ", commands=("Download", "Into", "Runs"))))
    for warning in plan.warnings():
        print("\n".join(wrapped(f"! {warning}", "  ")))
    print("\n".join(wrapped(WHAT_HAPPENS, "  ")))
    print()


def _carry_out(plan: InstallPlan, settings: Settings) -> int:
    """Install the agent, and print the result. Return the exit code."""
    from acp_tui.agent_registry.installation import install
    from acp_tui.cli import COMMANDS

    status, started, said = ConsoleStatusLine(), time.monotonic(), "Installing"

    def report(sentence: str = "") -> None:
        nonlocal said
        said = sentence or said
        status.show(f"{said} …", time.monotonic() - started)

    try:
        done = _run(_with_clock(install(plan, report, start_timeout=settings.timeouts.initialize), report))
    finally:
        status.clear()
    agent = done.agent
    start = f"run {agent.id}" if agent.id in COMMANDS else agent.id
    print(f"{agent.id} {agent.version} is installed. Start it with `acp-tui {start}`.")
    if agent.sha256:
        checked = "as the registry states" if plan.distribution.sha256 else "the registry states none"
        print(f"SHA-256 of the download: {agent.sha256} ({checked})")
    if done.problem:
        print_message(f"It does not work yet: {done.problem}")
        return FAILED
    print(f"It answers as {done.answered}.")
    return OK


async def _with_clock(work: Coroutine[Any, Any, Result], tick: Callable[[], None]) -> Result:
    """Return the result of some work, and call `tick` every second meanwhile."""
    import asyncio

    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait([task], timeout=1))[0]:
            tick()
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise
    return task.result()


def _load(settings: Settings) -> Registry:
    """Return the list that was fetched last. Raises `UserError` if there is none."""
    from acp_tui.agent_registry import registry

    listed = registry.load(settings.registry.url)
    if listed is None:
        address = settings.registry.url
        raise UserError(f"There is no list of agents yet. `acp-tui agents update` fetches it from {address}.")
    return listed


def _date(listed: Registry) -> str:
    return format_moment(listed.fetched_at, datetime.now(UTC))


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work`. SIGTERM and SIGHUP cancel it, so that it cleans up, and then end acp-tui."""
    import asyncio
    import signal

    received: list[int] = []

    async def run() -> Result:
        task = asyncio.ensure_future(work)

        def stop(number: int) -> None:
            if not received:
                received.append(number)
                task.cancel()

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # `nohup` ignores SIGHUP
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        return await task

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        raise SystemExit(128 + received[0]) from None


_REGISTRY_ACTIONS = {
    "update": _update,
    "search": _search,
    "install": _install,
    "upgrade": _upgrade,
    "remove": _remove,
}

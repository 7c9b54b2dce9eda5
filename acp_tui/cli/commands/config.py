"""`acp-tui config`: the settings in force, where each comes from, and what is wrong in the files."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.agents import catalogue
from acp_tui.cli.tables import aligned, wrapped
from acp_tui.config import settings as config
from acp_tui.session.text import visible_line
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import Server
    from acp_tui.config.problems import Problem
    from acp_tui.config.settings import Origin, Settings
    from acp_tui.config.user_agents import UserAgent


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("show", help="every value and where it comes from (the default)")
    actions.add_parser("path", help="the file that holds the settings")
    actions.add_parser("keys", help="every action that can be given keys of your own, and those it has now")
    actions.add_parser("check", help="what is wrong in the files; exit code 1 when something is")


def run(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    if args.action == "path":
        print(config.config_file())
        return 0
    settings = config.load(Path.cwd())
    if args.action == "keys":
        print("\n".join(_keys(settings)))
        return 0
    if args.action == "check":
        problems = catalogue.settings_problems(settings) + _of_the_screen(settings)
        print("\n".join(_report(problems)) if problems else "No problems found.")
        return 1 if problems else 0
    print("\n".join(_show(settings)))
    point_at_problems(settings)
    return 0


def _keys(settings: Settings) -> list[str]:
    """The table of keys, with the user's own in it."""
    from acp_tui.ui.keys import SCOPES, TABLE
    from acp_tui.ui.keys.keymap import keymap
    from acp_tui.ui.keys.palette_commands import title_of

    own = keymap(settings.keys).keys
    rows = [("ACTION", "KEYS", "PLACE", "WHAT IT DOES")]
    rows += [(key.id, own.get(key.id, key.keys), SCOPES[key.where].title, title_of(key)) for key in TABLE]
    return aligned(rows)


def _of_the_screen(settings: Settings) -> list[Problem]:
    """What only the screen knows of: themes, the actions that have keys, and how the user is called."""
    from acp_tui.ui.conversation import attention
    from acp_tui.ui.keys import keymap
    from acp_tui.ui.theme import themes

    return themes.problems(settings) + keymap.problems(settings) + attention.notify_command_problems(settings)


def point_at_problems(settings: Settings) -> None:
    """Say that not all of the settings is in force, whichever command was asked for."""
    if problems := catalogue.settings_problems(settings):
        noun = "problem" if len(problems) == 1 else "problems"
        print(
            f"acp-tui: {len(problems)} {noun} in the settings: `acp-tui config check` tells", file=sys.stderr
        )


def _show(settings: Settings) -> list[str]:
    files = [config.config_file(), config.project_file(Path.cwd())]
    lines = aligned([(file.name, str(file) if file.exists() else f"{file} (not there)") for file in files])
    rows = [(key, _written(key, settings), _place(settings.origin(key))) for key in config.CHECKS]
    rows += [
        (f"keys.{name}", keys, _place(settings.origin(f"keys.{name}")))
        for name, keys in settings.keys.items()
    ]
    rows += [(f"agents.{name}", _started(agent), _place(agent)) for name, agent in settings.agents.items()]
    rows += [
        (f"mcp_servers.{server.name}", server.transport, _place(server)) for server in settings.mcp_servers
    ]
    return [*lines, "", *aligned(rows)]


def _written(key: str, settings: Settings) -> str:
    """A value as it would be written in the file."""
    value: Any = settings.value(key)
    if value is None:
        return "(each command has its own)" if key == "policy" else "(none)"
    return json.dumps(value, ensure_ascii=False, default=str)


def _started(agent: UserAgent) -> str:
    return redact_text(shlex.join(agent.command)) if agent.command else "(as the known agent)"


def _place(origin: Origin | UserAgent | Server) -> str:
    """Where it is written; the two usual files by their names, because their paths are at the top."""
    if origin.file is None:
        return str(origin)
    usual = origin.file in (config.config_file(), config.project_file(Path.cwd()))
    name = origin.file.name if usual else str(origin.file)
    return name if origin.line is None else f"{name}:{origin.line}"


def _report(problems: list[Problem]) -> list[str]:
    """Each with its place on a line of its own, as editors and terminals recognise it."""
    lines = []
    for problem in problems:
        lines.append(visible_line(": ".join(part for part in (problem.place, problem.key) if part)))
        lines += wrapped(problem.sentence, "    ")
    return lines

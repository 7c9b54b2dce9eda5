"""`acp-tui config`: shows the effective settings, their origin, and problems in the files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.options import add_action, add_json_option, print_problem_count
from acp_tui.config import agent_catalogue
from acp_tui.config import settings as config
from acp_tui.config.local_profiles import DEFAULT
from acp_tui.config.paths import mcp_file
from acp_tui.config.settings import Origin
from acp_tui.console import aligned, print_json, wrapped
from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import Server
    from acp_tui.config.settings import Settings
    from acp_tui.config.user_agents import UserAgent
    from acp_tui.config.user_tools import UserTool
    from acp_tui.config.validators import Problem


MAX_VALUE_CELLS = 40
"""Longer values do not widen the column of values."""


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_json_option(add_action(actions, "show", "show all settings with their origins (the default action)"))
    add_action(actions, "path", "print the path of the settings file")
    add_action(actions, "keys", "list all actions and their keys")
    add_action(actions, "check", "report problems in the settings files; exit with 1 if there are any")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action. Return 1 if `check` finds problems, otherwise 0."""
    if args.action == "path":
        print(config.config_file())
        return 0
    settings = config.load(Path.cwd())
    if args.action == "keys":
        print("\n".join(_keys(settings)))
        return 0
    if args.action == "check":
        problems = agent_catalogue.settings_problems(settings) + _ui_problems(settings)
        print("\n".join(_problem_lines(problems)) if problems else "No problems found.")
        return 1 if problems else 0
    if getattr(args, "json", False):
        print_json(_as_json(settings))
        return 0
    print("\n".join(_show(settings)))
    print_problem_count(settings)
    return 0


def _keys(settings: Settings) -> list[str]:
    """Return the lines of a table of all actions with their current keys."""
    from acp_tui.ui.keys import SCOPES, TABLE
    from acp_tui.ui.keys.user_keymap import check_keys

    current = check_keys(settings.keys).keys
    rows = [("ACTION", "KEYS", "PLACE", "DESCRIPTION")]
    rows += [(key.id, current.get(key.id, key.keys), SCOPES[key.scope].title, key.title) for key in TABLE]
    return aligned(rows)


def _ui_problems(settings: Settings) -> list[Problem]:
    """Return problems in those settings that only the UI can check: themes, keys and notifications."""
    from acp_tui.ui.conversation import attention
    from acp_tui.ui.keys import user_keymap
    from acp_tui.ui.theme import themes

    return (
        themes.theme_problems(settings)
        + user_keymap.problems(settings)
        + attention.notify_command_problems(settings)
    )


def _show(settings: Settings) -> list[str]:
    files = [config.config_file(), config.project_file(Path.cwd())]
    if mcp_file().exists():
        files.insert(1, mcp_file())
    lines = aligned([(file.name, str(file) if file.exists() else f"{file} (missing)") for file in files])
    rows = [(key, _toml_value(key, settings), _origin(settings.origin(key))) for key in config.VALIDATORS]
    rows += [(key, value, _origin(origin)) for key, value, origin in _named_values(settings)]
    return [*lines, "", *aligned(rows, MAX_VALUE_CELLS)]


def _named_values(
    settings: Settings,
) -> Iterator[tuple[str, str, Origin | UserAgent | UserTool | Server]]:
    """Yield key, value and origin of what the user has named: keys, agents, tools, models and servers."""
    for name, keys in settings.keys.items():
        yield f"keys.{name}", keys, settings.origin(f"keys.{name}")
    for name, agent in settings.agents.items():
        yield f"agents.{name}", _command(agent), agent
    for name, tool in settings.tools.items():
        yield f"tools.{name}", _command(tool), tool
    for name, model in settings.local.profiles.items():
        key = "local" if name == DEFAULT else f"local.{name}"
        yield key, f"{model.model} at {model.base_url}", Origin("config", model.file, model.line)
    for server in settings.mcp_servers:
        yield f"mcp_servers.{server.name}", server.transport, server


def _as_json(settings: Settings) -> dict[str, Any]:
    """Return what `show` prints: the files, each setting with its origin, and the problems."""
    values = [(key, settings.value(key), settings.origin(key)) for key in config.VALIDATORS]
    files = [config.config_file(), mcp_file(), config.project_file(Path.cwd())]
    return {
        "files": [{"path": str(file), "exists": file.exists()} for file in files],
        "settings": [
            {
                "key": key,
                "value": json.loads(json.dumps(value, default=str)),
                "file": None if origin.file is None else str(origin.file),
                "line": origin.line,
            }
            for key, value, origin in [*values, *_named_values(settings)]
        ],
        "problems": [str(problem) for problem in agent_catalogue.settings_problems(settings)],
    }


def _toml_value(key: str, settings: Settings) -> str:
    """Return a setting's value as TOML, or a remark such as "(none)" if the setting has no value."""
    value: Any = settings.value(key)
    if value is None:
        return "(each command has its own default)" if key == "policy" else "(none)"
    return json.dumps(value, ensure_ascii=False, default=str)


def _command(source: UserAgent | UserTool) -> str:
    return redact_text(shlex.join(source.command)) if source.command else "(built-in command)"


def _origin(origin: Origin | UserAgent | UserTool | Server) -> str:
    """Return where a value comes from, such as `config.toml:3` or `built in`.

    The usual settings files are shown by name only, because `_show` prints their paths above the table.
    """
    if origin.file is None:
        return str(origin)
    is_usual = origin.file in (config.config_file(), mcp_file(), config.project_file(Path.cwd()))
    name = origin.file.name if is_usual else str(origin.file)
    return name if origin.line is None else f"{name}:{origin.line}"


def _problem_lines(problems: list[Problem]) -> list[str]:
    """Return the problems as lines to print.

    Each problem begins with `FILE:LINE`, which editors recognise.
    """
    lines = []
    for problem in problems:
        lines.append(escape_line(": ".join(part for part in (problem.location, problem.key) if part)))
        lines += wrapped(problem.sentence, "    ")
    return lines

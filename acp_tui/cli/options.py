"""Options and exit codes shared by the commands that start an agent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.policies import POLICIES
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse

OK, FAILED, USAGE, OTHER_STOP, CANCELLED = 0, 1, 2, 3, 130


def add_agent_options(parser: argparse.ArgumentParser, *, policy: str = "deny") -> None:
    """Which agent runs where, with what, and what it may do."""
    parser.add_argument("--command", dest="program", metavar="'PROG ARGS'", help="an agent without a name")
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="the folder to work in (default: here)")
    parser.add_argument(
        "--add-dir", type=Path, action="append", default=[], metavar="DIR", help="another folder it may use"
    )
    parser.add_argument(
        "--policy", choices=POLICIES, help=f"what is allowed without asking (default: {policy})"
    )
    for option, word in (("--allow", "allowed"), ("--reject", "rejected")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="KIND[:PATTERN]",
            help=f"{word} in this run, e.g. edit:src/**, 'execute:git status', mcp:server/tool",
        )
    parser.add_argument(
        "--mcp-config",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="MCP servers for the agent, as mcpServers JSON",
    )
    parser.add_argument("--no-log", action="store_true", help="keep no record of the session")


def add_unattended_options(parser: argparse.ArgumentParser) -> None:
    """What a screen would ask for."""
    parser.add_argument("--sign-in", metavar="METHOD", help="sign in by this method if the agent asks for it")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="cancel the turn after so long")


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """Which session, and how it is set up."""
    parser.add_argument("--mode", help="the agent's mode to work in, by id or name")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=assignment,
        metavar="KEY=VALUE",
        help="an option of the agent, or model=…",
    )
    parser.add_argument("--resume", metavar="ID", help="go on with a session: by our id or the agent's")


def seconds(text: str) -> float:
    """A time that passes."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def assignment(text: str) -> tuple[str, str]:
    """`KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError
    return key, value


def agent_and_prompt(words: list[str], program: str | None, *, needed: bool) -> tuple[str | None, str | None]:
    """What the free words are: the agent, unless `--command` names one, and the prompt.

    `needed`: there is no screen on which either could be chosen or written.
    """
    words = list(words)
    agent = words.pop(0) if words and program is None else None
    if agent is None and program is None and needed:
        raise UserError(
            "name an agent (`acp-tui agents` lists them) or give --command 'prog args'.", exit_code=USAGE
        )
    if len(words) > 1:
        read = ", or - to read it" if needed else ""
        raise UserError(f"give the prompt as one argument, in quotes{read}.", exit_code=USAGE)
    return agent, words[0] if words else None


def at_a_terminal() -> bool:
    """Can the user be shown something and answer?"""
    return sys.stdin.isatty() and sys.stderr.isatty()

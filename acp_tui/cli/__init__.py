"""The command line: finds the command and runs it. Only the chosen command's module is imported."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol, cast

from acp_tui import __version__
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence


class CommandModule(Protocol):
    """What each module of a command holds."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; the exit code."""


COMMANDS = {
    "exec": "run one prompt without a screen",
    "doctor": "look at an agent: what it is, what it can do, where it departs from the protocol",
    "agents": "the agents known by name",
    "sessions": "the recorded sessions",
    "permissions": "the remembered answers",
    "mcp": "the MCP servers given to agents",
    "config": "the settings and where they come from",
    "replay": "read a recorded session again",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `acp-tui`; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = _parser(words)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 2
    module = _module(args.command)
    try:
        code = module.run(args)
        sys.stdout.flush()  # here, where a reader that has gone is no traceback
    except UserError as error:
        print(f"acp-tui: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of our output is gone (`| head`): say nothing, also not at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="acp-tui",
        description="A terminal client for any coding agent that speaks the Agent Client Protocol (ACP).",
    )
    parser.add_argument("--version", action="version", version=f"acp-tui {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == chosen:
            _module(name).configure(command)
    return parser


def _module(command: str) -> CommandModule:
    return cast("CommandModule", importlib.import_module(f"acp_tui.cli.{command}"))

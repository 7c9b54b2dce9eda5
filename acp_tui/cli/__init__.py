"""Command line entry point: parses the arguments and imports only the module of the chosen command."""

from __future__ import annotations

import argparse
import errno
import importlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from acp_tui import __version__
from acp_tui.console.messages import print_message
from acp_tui.console.streams import discard_stdout, prepare_streams
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence


class CommandModule(Protocol):
    """The interface of a command's module."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to the parser."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code."""


COMMANDS = {
    "run": 'start an interactive session ("run" is optional: acp-tui [AGENT])',
    "exec": "run one prompt non-interactively",
    "doctor": "check an agent: identity, capabilities, protocol violations",
    "agents": "list known agents, or show one",
    "sessions": "list, show and prune recorded sessions",
    "permissions": "list, revoke and explain remembered permission answers",
    "mcp": "list the MCP servers given to agents",
    "export": "export a recorded session as Markdown, HTML or JSON",
    "config": "show and check the settings",
    "replay": "replay a recorded session",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `acp-tui` and return the exit code."""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # here, so that BrokenPipeError is handled below
    except UserError as error:
        print_message(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        discard_stdout()  # the reader is gone (`| head`): exit without a message
        return 128 + signal.SIGPIPE
    except FileNotFoundError:
        if _cwd_exists():
            raise
        print_message("the current directory no longer exists: change to another one.")
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        discard_stdout()
        print_message(f"cannot write the output: {error.strerror}.")
        return 1
    return code


def _run(given: list[str]) -> int:
    words = _with_command(given)
    prepare_streams()
    parser = _parser(words)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 2
    if args.command == "run" and args.cwd is None:
        Path.cwd()  # fail before the screen is opened if the directory was deleted
    return _module(args.command).run(args)


def _cwd_exists() -> bool:
    """Return False if the working directory was deleted."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _with_command(words: list[str]) -> list[str]:
    """Insert the default command `run` where no command is named: `acp-tui claude-code`.

    Without any argument `run` is inserted only on a terminal; otherwise the help is printed.
    """
    if not words and sys.stdin.isatty() and sys.stdout.isatty():
        return ["run"]
    first = next((word for word in words if not word.startswith("-")), None)
    general = not words or words[0] in ("-h", "--help", "--version")
    return words if general or first in COMMANDS else ["run", *words]


class _Parser(argparse.ArgumentParser):
    """Prints help without colours, which the stream would escape, and errors on one line."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.color = False  # Python 3.14 adds colours by default

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error on one line, and exit."""
        super().error(visible_line(message))


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="acp-tui",
        description="A terminal client for any coding agent that speaks the Agent Client Protocol (ACP).",
    )
    parser.add_argument("--version", action="version", version=f"acp-tui {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == chosen:
            _module(name).configure(command)
    return parser


def _module(command: str) -> CommandModule:
    return cast("CommandModule", importlib.import_module(f"acp_tui.cli.commands.{command}"))

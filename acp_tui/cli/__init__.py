"""The command line: finds the command and runs it. Only the chosen command's module is imported."""

from __future__ import annotations

import argparse
import errno
import importlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from acp_tui import __version__
from acp_tui.cli.streams import forget_output, prepare_streams
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
    "run": "hold a conversation on the screen; the word may be left out: acp-tui [AGENT]",
    "exec": "run one prompt without a screen",
    "doctor": "look at an agent: what it is, what it can do, where it departs from the protocol",
    "agents": "the agents known by name",
    "sessions": "the recorded sessions",
    "permissions": "the remembered answers",
    "mcp": "the MCP servers given to agents",
    "export": "a recorded session as Markdown, HTML or JSON",
    "config": "the settings and where they come from",
    "replay": "read a recorded session again",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `acp-tui`; returns the exit code."""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # here, where a reader that has gone is no traceback
    except UserError as error:
        print(f"acp-tui: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        forget_output()  # its reader is gone (`| head`): not worth a word
        return 128 + signal.SIGPIPE
    except FileNotFoundError:
        if _in_a_folder():
            raise
        print("acp-tui: the current folder no longer exists: change to another one.", file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        forget_output()
        print(f"acp-tui: the output cannot be written: {error.strerror}.", file=sys.stderr)
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
        Path.cwd()  # fails here, and not on the screen, if the folder was deleted
    return _module(args.command).run(args)


def _in_a_folder() -> bool:
    """Return False if the working directory was deleted."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _with_command(words: list[str]) -> list[str]:
    """Without the name of a command it is the conversation on the screen: `acp-tui claude-code`.

    Without any word, too, where there is a screen.
    """
    if not words and sys.stdin.isatty() and sys.stdout.isatty():
        return ["run"]
    first = next((word for word in words if not word.startswith("-")), None)
    general = not words or words[0] in ("-h", "--help", "--version")
    return words if general or first in COMMANDS else ["run", *words]


class _Parser(argparse.ArgumentParser):
    """Writes plain text: from Python 3.14 on argparse adds colours, which the stream would show."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.color = False


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
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
    return cast("CommandModule", importlib.import_module(f"acp_tui.cli.commands.{command}"))

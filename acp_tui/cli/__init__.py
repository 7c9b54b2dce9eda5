"""Command line entry point: parses the arguments and imports only the module of the chosen command."""

from __future__ import annotations

import argparse
import errno
import importlib
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast

from acp_tui import __version__
from acp_tui.cli.options import USAGE, take_address
from acp_tui.config.own_files import UnusableFileError, unusable_files
from acp_tui.console import discard_stdout, prepare_streams, print_message
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_line

EPILOG = """\
examples:
  acp-tui                       choose an agent or a recorded session
  acp-tui claude-code           start an interactive session
  acp-tui --continue            resume this folder's latest session
  acp-tui exec gemini 'hello'   run one prompt
  acp-tui demo                  try acp-tui without an agent

usual options of a session:
  --continue                    resume this folder's latest session
  --resume ID                   resume a certain session
  --policy NAME                 what is allowed without asking
  --worktree                    let the agent work in a new git worktree

See `acp-tui run --help` for all of them, and `acp-tui COMMAND --help` for the options of a command.
"""
COMMANDS = {
    "run": 'start an interactive session ("run" is optional: acp-tui [AGENT])',
    "exec": "run one prompt non-interactively",
    "local": "start a session with a model of your own, such as one of Ollama",
    "compare": "send one prompt to several agents, each in a git worktree of its own",
    "doctor": "check an agent: identity, capabilities, protocol violations",
    "agents": "list known agents, show one, or install more",
    "login": "sign in to an agent",
    "logout": "sign out of an agent",
    "sessions": "list, search, show and prune recorded sessions",
    "permissions": "list, revoke and explain remembered permission answers",
    "trust": "list and forget the folders you trust",
    "mcp": "manage the MCP servers given to agents",
    "export": "export a recorded session as Markdown, HTML or JSON",
    "config": "show and check the settings",
    "replay": "replay a recorded session",
    "serve": "serve an agent over WebSocket, to acp-tui on another machine",
    "tap": "stand between an editor and an agent, and record their messages",
    "wire": "show the messages between acp-tui and an agent",
}
DEFAULT_ACTIONS = {
    "agents": "list",
    "config": "show",
    "mcp": "list",
    "permissions": "list",
    "sessions": "list",
    "trust": "list",
}
"""The action of a command whose options are given without an action, as in `acp-tui agents --json`."""
OTHER_NAMES = {
    **dict.fromkeys(("version", "-v", "-V"), "`acp-tui --version`"),
    **dict.fromkeys(("list", "ls"), "`acp-tui agents` or `acp-tui sessions`"),
}
"""What users of other programs type, and what to type here."""
# How argparse says that a word is not one of the choices; Python 3.12 stopped quoting them.
_INVALID_CHOICE = re.compile(r"(invalid choice: '(.+)') \(choose from (.+)\)$")


class CommandModule(Protocol):
    """The interface of a command's module."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to the parser."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `acp-tui` and return the exit code."""
    said = ""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # here, so that BrokenPipeError is handled below
    except UserError as error:
        said = str(error)
        print_message(said)
        return error.exit_code
    except UnusableFileError:
        return 1  # named below
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        discard_stdout()  # the reader is gone (`| head`): exit without a message
        return 128 + signal.SIGPIPE
    except FileNotFoundError:
        if _cwd_exists():
            raise
        print_message("The current directory no longer exists. Change to another one.")
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        discard_stdout()
        print_message(f"Cannot write the output: {error.strerror}.")
        return 1
    finally:
        for path, sentence in unusable_files().items():
            if path not in said:
                print_message(sentence)
    return code


def _run(given: list[str]) -> int:
    words, command_line = _cut_command_line(_with_literal_search(_with_command(given)))
    prepare_streams()
    parser = _parser(words)
    args, unknown = parser.parse_known_args(words)
    args.command_line = command_line
    if unknown:
        _take_late_words(args, unknown)
    take_address(args)
    if args.command is None:
        parser.print_help()
        return USAGE
    if args.command in ("run", "local") and args.cwd is None:
        Path.cwd()  # fail before the screen is opened if the directory was deleted
    return _module(args.command).run(args)


def _take_late_words(args: argparse.Namespace, unknown: list[str]) -> None:
    """Add `unknown`, which argparse did not recognise, to the positional arguments in `args.words`.

    argparse reports positional arguments after an option as unknown, such as `PROMPT` in
    `exec AGENT --policy ask PROMPT`. Raises `UserError` if an option is really unknown, or if the command has
    no `args.words`.
    """
    options = [word for word in unknown if word.startswith("-") and word != "-"]
    if options or "words" not in args:
        command = f"acp-tui {args.command}" if args.command else "acp-tui"
        unknown_words = " ".join(options or unknown)
        raise UsageError(f"Unknown argument: {unknown_words}. See `{command} --help`.")
    args.words += unknown


def _cut_command_line(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words for argparse to parse, and separately those after `--`.

    These are the COMMAND of `mcp add NAME -- COMMAND` and of `tap -- COMMAND`, or the PROMPT of
    `compare AGENT AGENT -- PROMPT`.
    """
    if (words[:2] == ["mcp", "add"] or words[:1] in (["tap"], ["compare"])) and "--" in words:
        position = words.index("--")
        return words[:position], words[position + 1 :]
    return words, []


def _with_literal_search(words: list[str]) -> list[str]:
    """Return the words with `--` before the text of `sessions search`, which can begin with a dash."""
    if words[:2] != ["sessions", "search"] or "--" in words:
        return words
    options = [word for word in words[2:] if word in ("--json", "-h", "--help")]
    text = [word for word in words[2:] if word not in options]
    return [*words[:2], *options, *(["--", *text] if text else [])]


def _cwd_exists() -> bool:
    """Return whether the working directory still exists."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _with_command(words: list[str]) -> list[str]:
    """Return the words with the default command `run`, or with the default action of a command.

    `acp-tui claude-code` means `acp-tui run claude-code`, `acp-tui mcp --agent codex` means
    `acp-tui mcp list --agent codex`, and `acp-tui agents codex` means `acp-tui agents show codex`.
    If there are no words, `run` is inserted only on a terminal; otherwise the help is printed.
    """
    if not words and sys.stdin.isatty() and sys.stdout.isatty():
        return ["run"]
    general = not words or words[0] in ("-h", "--help", "--version")
    action = DEFAULT_ACTIONS.get(words[0]) if words else None
    if action and (words == ["mcp"] or (len(words) > 1 and _is_option(words[1]))):
        return [words[0], action, *words[1:]]
    if words[:1] == ["agents"] and len(words) > 1 and not _is_action_of_agents(words[1]):
        return ["agents", "show", *words[1:]]
    if general or words[0] in COMMANDS:
        return words
    if words[0] == "help":
        return [*[word for word in words[1:] if word in COMMANDS][:1], "--help"]
    _refuse_misspelt_command(words[0])
    return ["run", *words]


def _refuse_misspelt_command(word: str) -> None:
    """Raise `UserError` for a word that is no agent, and almost a command or one of other programs."""
    import difflib

    close = [] if word.startswith("-") else difflib.get_close_matches(word, COMMANDS, 1, cutoff=0.75)
    meant = OTHER_NAMES.get(word) or next((f"`acp-tui {name}`" for name in close), None)
    if meant is None:
        return
    from acp_tui.config.agent_catalogue import known_agents
    from acp_tui.config.settings import load

    if word not in known_agents(load(Path.cwd())):
        what = "option" if word.startswith("-") else "command"
        raise UsageError(f'Unknown {what} "{escape_line(word)}"; did you mean {meant}?')


AGENT_ACTIONS = ("list", "show", "update", "search", "install", "upgrade", "remove")


def _is_action_of_agents(word: str) -> bool:
    """Return True unless the word after `acp-tui agents` is meant as the name of an agent.

    A mistyped action counts as an action, unless an agent has this name.
    """
    import difflib

    if word.startswith("-") or word in AGENT_ACTIONS:
        return True
    if not difflib.get_close_matches(word, AGENT_ACTIONS, 1):
        return False
    from acp_tui.config.agent_catalogue import known_agents
    from acp_tui.config.settings import load

    return word not in known_agents(load(Path.cwd()))


def _is_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-h", "--help")


class _ArgumentParser(argparse.ArgumentParser):
    """Prints help without colours, and errors as one sentence that refers to `--help`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.color = False  # argparse adds colours from Python 3.14 on, but the stream escapes them

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        message = _INVALID_CHOICE.sub(_suggest_choice, message)
        end = "" if message.endswith("?") else "."
        print_message(f"{message[0].upper()}{message[1:]}{end} See `{self.prog} --help`.")
        self.exit(USAGE)


def _suggest_choice(error: re.Match[str]) -> str:
    """Return the error with the most similar choice instead of all; unchanged if none is similar."""
    import difflib

    choices = [choice.strip("'") for choice in error[3].split(", ")]
    meant = difflib.get_close_matches(error[2], choices, 1)
    return f"{error[1]}; did you mean {meant[0]!r}?" if meant else error[0]


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _ArgumentParser(
        prog="acp-tui",
        description="A terminal client for any coding agent that speaks the Agent Client Protocol (ACP).",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"acp-tui {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name in words[:1]:
            _module(name).configure(command)
    return parser


def _module(command: str) -> CommandModule:
    return cast("CommandModule", importlib.import_module(f"acp_tui.cli.commands.{command}"))

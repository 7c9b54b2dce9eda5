"""Options and exit codes shared by the commands that start an agent."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.agent_catalogue import settings_problems
from acp_tui.config.validators import POLICIES
from acp_tui.console import pluralize, print_message
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings


if TYPE_CHECKING:
    Actions = argparse._SubParsersAction[argparse.ArgumentParser]

OK, FAILED, USAGE, OTHER_STOP, CANCELLED = 0, 1, 2, 3, 130


def add_action(actions: Actions, name: str, summary: str) -> argparse.ArgumentParser:
    """Add a subcommand. `summary` is in the parent's help and, as a sentence, in the subcommand's help."""
    return actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json` to a command that prints a list."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_agent_options(parser: argparse.ArgumentParser, *, policy: str = "deny") -> None:
    """Add the options that select the agent, its workspace, MCP servers and permissions."""
    parser.add_argument(
        "--command", dest="program", metavar="'PROG ARGS'", help="start the agent with this command"
    )
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="workspace directory (default: current)")
    parser.add_argument(
        "--add-dir",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="another directory the agent may use (repeatable)",
    )
    parser.add_argument(
        "--policy", choices=POLICIES, help=f"what is allowed without asking (default: {policy})"
    )
    for option, word in (("--allow", "allow"), ("--reject", "reject")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="KIND[:PATTERN]",
            help=f"{word} these actions in this run, e.g. edit:src/**, 'execute:git status', mcp:server/tool",
        )
    parser.add_argument(
        "--mcp-config",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="give the agent the mcpServers of this JSON file (repeatable)",
    )
    parser.add_argument(
        "--trust-folder",
        action="store_true",
        help="use what the workspace's own files define, such as MCP servers, without asking",
    )
    parser.add_argument("--no-log", action="store_true", help="do not record the session")


def add_unattended_options(parser: argparse.ArgumentParser) -> None:
    """Add `--sign-in` and `--timeout`, for runs that the user does not watch."""
    parser.add_argument(
        "--sign-in", metavar="METHOD", help="sign in with this method if the agent requires it"
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="cancel the turn after SECONDS")


def add_session_options(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the options that resume a session, and also `--mode` and `--set`.

    Return the argument group with the options that resume a session.
    """
    parser.add_argument("--mode", metavar="MODE", help="set the agent's mode, by id or name")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=assignment,
        metavar="KEY=VALUE",
        help="set an agent option, or the model with model=… (repeatable)",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--resume", metavar="ID", help="resume a session, by acp-tui's id or the agent's id")
    choice.add_argument(
        "--continue",
        dest="continue_latest",
        action="store_true",
        help="resume this folder's latest session; with AGENT or --command, the latest one of that agent",
    )
    return choice


def add_worktree_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that let the agent work in a git worktree of its own."""
    parser.add_argument(
        "--worktree",
        action="store_true",
        help="let the agent work in a new git worktree, on a branch of its own",
    )
    parser.add_argument(
        "--worktree-name", metavar="NAME", help="like --worktree, on a new branch with this name"
    )


def seconds(text: str) -> float:
    """Parse a positive, finite number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value


def assignment(text: str) -> tuple[str, str]:
    """Split `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {text!r}")
    return key, value


def agent_and_prompt(words: list[str], program: str | None, *, needed: bool) -> tuple[str | None, str | None]:
    """Split the positional arguments into the agent and the prompt.

    With `--command`, which sets `program`, none of the arguments is an agent. Raises `UserError` if there
    are several prompts, or if `needed` is true and there is neither an agent nor `--command`.
    """
    words = list(words)
    agent = words.pop(0) if words and program is None else None
    if agent is None and program is None and needed:
        raise UserError("Name an agent (see `acp-tui agents`) or use --command 'PROG ARGS'.", exit_code=USAGE)
    if len(words) > 1:
        stdin = ", or - to read it from stdin" if needed else ""
        raise UserError(f"Pass the prompt as one quoted argument{stdin}.", exit_code=USAGE)
    return agent, words[0] if words else None


def is_interactive() -> bool:
    """Return True if stdin and stderr are terminals, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


MAX_PROBLEMS = 5
"""The maximum number of problems printed before a run; `config check` prints all."""


def print_problems(settings: Settings) -> None:
    """Print the first `MAX_PROBLEMS` problems, and how many more there are."""
    problems = settings_problems(settings)
    for problem in problems[:MAX_PROBLEMS]:
        print_message(str(problem))
    if (more := len(problems) - MAX_PROBLEMS) > 0:
        print_message(f"{pluralize(more, 'more problem')} in the settings; run `acp-tui config check`.")


def print_problem_count(settings: Settings) -> None:
    """Print how many problems there are, if any."""
    if problems := settings_problems(settings):
        print_message(f"{pluralize(len(problems), 'problem')} in the settings; run `acp-tui config check`.")

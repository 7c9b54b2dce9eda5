"""Options and exit codes shared by the commands that start an agent."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.remote_address import TOKEN_VARIABLE, is_remote_address, remote_folder
from acp_tui.config.validators import POLICIES, PROTOCOLS, InvalidValueError
from acp_tui.console import pluralize, print_message
from acp_tui.errors import UsageError

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.config.settings import Settings

    Actions = argparse._SubParsersAction[argparse.ArgumentParser]

OK, FAILED, USAGE, OTHER_STOP, CANCELLED = 0, 1, 2, 3, 130
REPEATABLE: dict[str, Any] = {"action": "append", "default": []}
"""The arguments of `add_argument` for an option that can be given several times."""
MAX_PROBLEMS = 5
"""The maximum number of problems printed before a run; `config check` prints all."""


def add_action(actions: Actions, name: str, summary: str) -> argparse.ArgumentParser:
    """Add a subcommand. `summary` is in the parent's help and, as a sentence, in the subcommand's help."""
    return actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_command_option(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add `--command`, which sets `args.program`, or with `several` the list `args.programs`."""
    about = (
        "start an agent with this command (repeatable)" if several else "start the agent with this command"
    )
    how: dict[str, Any] = REPEATABLE | {"dest": "programs"} if several else {"dest": "program"}
    parser.add_argument("--command", **how, metavar="'PROG ARGS'", help=about)


def add_folder_options(parser: argparse.ArgumentParser) -> None:
    """Add the folders that an agent may use: `--cwd`, None if it is not given, and `--add-dir`."""
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="workspace directory (default: current)")
    about = "another directory the agent may use (repeatable)"
    parser.add_argument("--add-dir", **REPEATABLE, type=Path, metavar="DIR", help=about)


def add_file_option(
    parser: argparse.ArgumentParser, about: str = "JSON file with mcpServers (repeatable)"
) -> None:
    """Add `--mcp-config`, which sets `args.mcp_config` to a list of files."""
    parser.add_argument("--mcp-config", **REPEATABLE, type=Path, metavar="FILE", help=about)


def add_remote_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for agents on other machines, which `apply_remote_options` reads."""
    group = parser.add_argument_group(
        "remote agents (wss://HOST/PATH or https://HOST/PATH in place of AGENT)"
    )
    about = f"file with the token of the agent (default: the variable {TOKEN_VARIABLE})"
    group.add_argument("--token-file", type=Path, metavar="FILE", help=about)
    about = "trust only the certificates in this PEM file"
    group.add_argument("--ca-file", type=Path, metavar="FILE", help=about)
    about = "folder of the session on the other machine (default: the same path as here)"
    group.add_argument("--folder", metavar="DIR", help=about)


def apply_remote_options(args: argparse.Namespace, launch: Launch) -> None:
    """Apply the options of `add_remote_options`. Raises `UsageError` if they do not fit the agent."""
    folder, files = getattr(args, "folder", None), ("token_file", "ca_file")
    given = {name: value.absolute() for name in files if (value := getattr(args, name, None)) is not None}
    if given and launch.address is None:
        option = next(iter(given)).replace("_", "-")
        raise UsageError(f"--{option} is only for agents with an address, and {launch.title} has none.")
    if folder is not None and not launch.is_remote:
        raise UsageError("--folder is only for agents on other machines; --cwd DIR is the folder of others.")
    if launch.address is not None:
        launch.address = replace(launch.address, **given)
    if folder is not None:
        try:
            launch.folder = remote_folder(folder)
        except InvalidValueError as error:
            raise UsageError(f"--folder: {error}.") from None


def take_address(args: argparse.Namespace) -> None:
    """If the agent is given as an address, turn it into the equivalent value of `--command`."""
    words = getattr(args, "words", None) or [getattr(args, "agent", None)]
    if "ca_file" in args and isinstance(words[0], str) and is_remote_address(words[0]):
        if args.program is not None:
            raise UsageError("Name one agent: an address or --command, not both.")
        args.program, args.agent = shlex.quote(words.pop(0)), None


def add_account_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name an agent for `login` and `logout`."""
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="name of the agent")
    add_command_option(parser)


def add_agent_options(
    parser: argparse.ArgumentParser, *, policy: str = "deny", several: bool = False, is_fixed: bool = False
) -> None:
    """Add the options that select one or several agents, their workspace, MCP servers and permissions.

    `is_fixed` leaves out those that select an agent: the command starts a certain one.
    """
    if is_fixed:
        parser.set_defaults(program=None)
    else:
        add_command_option(parser, several=several)
    about = "version of the protocol to ask the agent for (default: 1)"
    parser.add_argument("--protocol", choices=PROTOCOLS, help=about)
    add_folder_options(parser)
    parser.add_argument(
        "--policy", choices=POLICIES, help=f"what is allowed without asking (default: {policy})"
    )
    for word in ("allow", "reject"):
        about = f"{word} these actions in this run, e.g. edit:src/**, 'execute:git status', mcp:server/tool"
        parser.add_argument(f"--{word}", **REPEATABLE, metavar="KIND[:PATTERN]", help=about)
    add_file_option(parser, "give the agent the mcpServers of this JSON file (repeatable)")
    parser.add_argument(
        "--trust-folder",
        action="store_true",
        help="use what the workspace's own files define, such as MCP servers, without asking",
    )
    parser.add_argument("--no-log", action="store_true", help="do not record the session")
    if not (several or is_fixed):
        add_remote_options(parser)


def add_unattended_options(parser: argparse.ArgumentParser) -> None:
    """Add `--sign-in` and `--timeout`, for runs that the user does not watch."""
    parser.add_argument(
        "--sign-in", metavar="METHOD", help="sign in with this method if the agent requires it"
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="cancel the turn after SECONDS")


def add_setting_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", metavar="MODE", help="set the agent's mode, by id or name")
    about = "set an agent option, or the model with model=… (repeatable)"
    parser.add_argument("--set", **REPEATABLE, type=assignment, metavar="KEY=VALUE", help=about)


def add_session_options(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add `--mode` and `--set`, and the options that resume a session. Return the group of the latter."""
    add_setting_options(parser)
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
    about = "let the agent work in a new git worktree, on a branch of its own"
    parser.add_argument("--worktree", action="store_true", help=about)
    about = "like --worktree, on a new branch with this name"
    parser.add_argument("--worktree-name", metavar="NAME", help=about)


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
    if needed:
        require_agent(agent, program)
    if len(words) > 1:
        stdin = ", or - to read it from stdin" if needed else ""
        raise UsageError(f"Pass the prompt as one quoted argument{stdin}.")
    return agent, words[0] if words else None


def read_prompt(word: str | None) -> str:
    """Return the prompt: `word`, or what stdin contains if that is "-" or None. Raises `UserError`."""
    if word is None and sys.stdin.isatty():
        raise UsageError("No prompt given. Pass one, or - to read it from stdin.")
    try:
        text = word if word is not None and word != "-" else sys.stdin.read()
        text.encode()
    except UnicodeError:
        raise UsageError("The prompt is not valid UTF-8.") from None
    if not text.strip():
        raise UsageError("The prompt is empty.")
    return text


def require_agent(agent: str | None, program: str | None) -> None:
    """Raise `UsageError` if the command line names neither an agent nor a program."""
    if agent is None and program is None:
        raise UsageError("Name an agent (see `acp-tui agents`) or use --command 'PROG ARGS'.")


def confirm(question: str, *, done: str, verb: str) -> bool:
    """Ask a question on the terminal, and return the answer, which is no by default.

    Raises `UsageError` if there is no terminal: nothing was `done`, such as "removed", and `--yes` lets the
    user `verb` without being asked.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            f"Nothing {done}: no terminal to ask for confirmation. Use --yes to {verb} without asking."
        )
    print(f"{question} [y/N] ", end="", flush=True)
    try:
        return is_yes(input())
    except EOFError:
        return False


def is_yes(answer: str) -> bool:
    return answer.strip().lower() in ("y", "yes")


def is_interactive() -> bool:
    """Return True if stdin and stderr are terminals, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def print_problems(settings: Settings, say: Callable[[str], None] = print_message) -> None:
    """Print the first `MAX_PROBLEMS` problems, and how many more there are."""
    from acp_tui.config.agent_catalogue import settings_problems

    problems = settings_problems(settings)
    for problem in problems[:MAX_PROBLEMS]:
        say(str(problem))
    if (more := len(problems) - MAX_PROBLEMS) > 0:
        say(f"{pluralize(more, 'more problem')} in the settings; run `acp-tui config check`.")


def print_problem_count(settings: Settings) -> None:
    """Print how many problems there are, if any."""
    from acp_tui.config.agent_catalogue import settings_problems

    if problems := settings_problems(settings):
        print_message(f"{pluralize(len(problems), 'problem')} in the settings; run `acp-tui config check`.")

"""`acp-tui compare`: sends the same prompt to several agents, each in a git worktree of its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.cli.options import add_agent_options, add_setting_options, add_unattended_options, read_prompt
from acp_tui.errors import UsageError

if TYPE_CHECKING:
    from acp_tui.cli.conversation_setup import ConversationSetup
    from acp_tui.config.settings import Settings
    from acp_tui.ui.app import AcpTui

EPILOG = """\
The agents work in worktrees made from the last commit. On the screen, each has a tab, and a table compares
them; there you keep the work of one agent and discard the rest. Without a screen (--output json), worktrees
with changes are kept unless --keep says otherwise.

exit codes with --output json: 0 all turns completed, whatever --check returned; 1 an agent failed;
2 usage error; 3 another stop reason; 130 cancelled.

examples:
  acp-tui compare claude-code codex 'Fix the failing test' --check 'pytest -q'
  acp-tui compare opencode opencode 'Fix it' --set opencode-1:model=a --set opencode-2:model=b
  acp-tui compare --command 'python3 one.py' --command 'python3 two.py' hello --output json --keep none
"""
SEVERAL = "Name at least two agents, and the prompt last: acp-tui compare AGENT AGENT 'PROMPT'."
KEEP_ALL, KEEP_NONE = "all", "none"


class Contestant(NamedTuple):
    """One of the agents, as the command line names it."""

    name: str  # unique
    agent: str | None  # None for a program
    args: argparse.Namespace  # for its conversation, as those of `exec` and `run`


def configure(parser: argparse.ArgumentParser) -> None:
    from acp_tui.cli.screen_runner import add_theme_option

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument(
        "words",
        nargs="*",
        metavar="AGENT AGENT… PROMPT",
        help="names of the agents, then the prompt: one word or quoted, or all words after --",
    )
    add_agent_options(parser, policy="ask; with --output json: deny", several=True)
    add_setting_options(parser)
    add_unattended_options(parser)
    about = "run this command in each worktree when a turn has ended; the table shows its exit code"
    parser.add_argument("--check", metavar="COMMAND", default="", help=about)
    parser.add_argument("--output", choices=("json",), help="print one JSON object instead of using a screen")
    about = "with --output json: keep the worktree of this agent, of all (default), or of none"
    parser.add_argument("--keep", metavar="NAME|all|none", help=about)
    add_theme_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compare the agents and return the exit code."""
    if args.output is None:
        return _run_on_screen(args)
    contestants, word = _read(args)
    if args.keep not in (None, KEEP_ALL, KEEP_NONE, *(contestant.name for contestant in contestants)):
        names = ", ".join(contestant.name for contestant in contestants)
        raise UsageError(f"--keep takes one of these: {names}, {KEEP_ALL}, {KEEP_NONE}.")
    prompt = read_prompt(word)
    import asyncio

    from acp_tui.cli.comparison_run import execute

    def keeps(name: str) -> bool:
        return args.keep in (None, KEEP_ALL, name)

    return asyncio.run(execute(contestants, prompt, check=args.check, keeps=keeps))


# --------------------------------------------------------------------------- the command line


def _read(args: argparse.Namespace) -> tuple[list[Contestant], str]:
    """Return the agents and the prompt. Raises `UserError` if they cannot be compared here."""
    from acp_tui.app_context import AppContext
    from acp_tui.config.agent_catalogue import launch_from_command, resolve_launch
    from acp_tui.config.paths import paths
    from acp_tui.workspace.git.worktree_creation import require_repository

    words = [*args.words, " ".join(args.command_line)] if args.command_line else list(args.words)
    if not words or len(words) - 1 + len(args.programs) < 2:
        raise UsageError(SEVERAL)
    *agents, prompt = words
    if not prompt.strip():
        raise UsageError("The prompt is empty.")
    folder = Path(args.cwd or ".").resolve()
    context = AppContext.open(folder)
    _require_known(agents, context.settings, others=len(args.programs))
    programs = [launch_from_command(program).name for program in args.programs]
    for agent in agents:
        resolve_launch(agent, context.settings)
    require_repository(folder, paths().data, trusted=args.trust_folder or context.is_trusted(folder))
    names = list(_unique([*agents, *programs]))
    starts = [*((agent, None) for agent in agents), *((None, program) for program in args.programs)]
    return [
        Contestant(name, agent, _arguments(args, name, names, program))
        for name, (agent, program) in zip(names, starts, strict=True)
    ], prompt


def _require_known(agents: list[str], settings: Settings, *, others: int) -> None:
    """Raise `UserError` for the first unknown agent. `others` are given with --command."""
    from acp_tui.config.agent_catalogue import find_agent

    for number, agent in enumerate(agents):
        try:
            find_agent(agent, settings)
        except UsageError as error:
            hint = " Quote the prompt if it has several words." if number + others >= 2 else ""
            raise UsageError(f"{error}{hint}") from None


def _unique(names: list[str]) -> Iterator[str]:
    """Yield the names. Those that occur several times are numbered, as in "demo-1" and "demo-2"."""
    taken = set(names)
    for name in names:
        unique, number = name, 0
        while unique in taken and names.count(name) > 1:
            number += 1
            unique = f"{name}-{number}"
        taken.add(unique)
        yield unique


def _arguments(
    args: argparse.Namespace, name: str, names: list[str], program: str | None
) -> argparse.Namespace:
    """Return the arguments for the conversation of the agent `name`."""
    from acp_tui.cli.commands.run import changed_arguments

    settings = []
    for key, value in args.set:
        owner, colon, own_key = key.partition(":")
        if not colon or owner not in names:
            settings.append((key, value))
        elif owner == name:
            settings.append((own_key, value))
    return changed_arguments(
        args,
        program=program,
        set=settings,
        resume=None,
        continue_latest=False,
        worktree=True,
        worktree_name=None,
        branch_label=name,
    )


# --------------------------------------------------------------------------- on the screen


def _run_on_screen(args: argparse.Namespace) -> int:
    from acp_tui.cli.commands.run import run_screen
    from acp_tui.cli.screen_runner import require_terminal

    for option in ("keep", "timeout", "sign_in"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} needs --output json.")
    require_terminal("`acp-tui compare --output json` works without a terminal")
    return run_screen(partial(app_for, args))


def app_for(
    args: argparse.Namespace, on_created: Callable[[ConversationSetup], None] = lambda _: None
) -> AcpTui:
    """Return the app that shows the comparison. `on_created` is called with each conversation's setup."""
    from acp_tui.cli.commands.run import (
        changed_arguments,
        conversation_screen,
        default_arguments,
        launcher_screen,
        sessions_screen,
    )
    from acp_tui.config import early_settings
    from acp_tui.config.paths import paths
    from acp_tui.controller.comparison import ComparedAgent
    from acp_tui.store.open_tabs import OpenTabsFile
    from acp_tui.store.secret_patterns import redact_text
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.tabs.comparison import ComparisonScreen

    contestants, prompt = _read(args)
    compared = [ComparedAgent(contestant.name, args.check) for contestant in contestants]
    title = " ".join(redact_text(prompt).split())

    def created(agent: ComparedAgent, setup: ConversationSetup) -> None:
        on_created(setup)
        setup.conversation.rename(f"{agent.name}: {title}")
        agent.attach(setup.conversation)

    screens = [
        partial(conversation_screen, contestant.args, partial(created, agent), contestant.agent, prompt)
        for agent, contestant in zip(compared, contestants, strict=True)
    ]
    folder = Path(args.cwd or ".").absolute()
    given = changed_arguments(default_arguments(), cwd=args.cwd, policy=args.policy)
    app = AcpTui(
        lambda: ComparisonScreen(prompt, args.check, compared, screens, app.tabs),
        theme=args.theme,
        settings=early_settings.read(folder),
        launcher=partial(launcher_screen, given, on_created),
        sessions=partial(sessions_screen, given, on_created),
        open_tabs=OpenTabsFile(paths().state, str(folder)),
    )
    return app

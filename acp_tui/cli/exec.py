"""`acp-tui exec`: one prompt, no screen. The answer goes to stdout, everything else to stderr."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.checks import POLICIES
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse

OK, FAILED, USAGE, OTHER_STOP, CANCELLED = 0, 1, 2, 3, 130

EPILOG = """\
exit codes: 0 the agent ended its turn; 1 failure; 2 usage; 3 another stop reason; 130 cancelled.
Ctrl+C asks the agent to stop; a second one quits at once.

examples:
  acp-tui exec demo tour --policy yolo
  acp-tui exec claude-code 'why does test_login fail?' --policy read-only
  git diff | acp-tui exec gemini - --output json
  acp-tui exec --command 'python3 my_agent.py' hello --allow 'execute:pytest'
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    import argparse

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument(
        "words", nargs="*", metavar="AGENT [PROMPT | -]", help="the agent, and what to ask it"
    )
    add_agent_options(parser)
    parser.add_argument(
        "--policy", choices=POLICIES, default=None, help="what is allowed without asking (default: deny)"
    )
    for option, word in (("--allow", "allowed"), ("--reject", "rejected")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="KIND[:PATTERN]",
            help=f"{word} in this run, e.g. edit:src/**, 'execute:git status', mcp:server/tool",
        )
    parser.add_argument("--output", choices=("text", "json", "ndjson"), default="text")
    parser.add_argument("--mode", help="the agent's mode to work in, by id or name")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a config option of the agent, or model=…",
    )
    parser.add_argument("--resume", metavar="ID", help="go on with a session: ours or the agent's id")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="cancel the turn after so long")


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which agent runs where; shared by the commands that start one."""
    parser.add_argument("--command", dest="program", metavar="'PROG ARGS'", help="an agent without a name")
    parser.add_argument("--cwd", type=Path, help="the folder to work in (default: here)")
    parser.add_argument(
        "--add-dir", type=Path, action="append", default=[], metavar="DIR", help="another folder it may use"
    )
    parser.add_argument(
        "--mcp-config",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="MCP servers, as mcpServers JSON",
    )
    parser.add_argument(
        "--sign-in", metavar="METHOD", help="sign in by this method when the agent asks for it"
    )
    parser.add_argument("--no-log", action="store_true", help="keep no record of the session")


def run(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    words: list[str] = list(args.words)
    agent = None if args.program else (words.pop(0) if words else None)
    if agent is None and not args.program:
        raise UserError(
            "name an agent (`acp-tui agents` lists them) or give --command 'prog args'.", exit_code=USAGE
        )
    if len(words) > 1:
        raise UserError(
            "give the prompt as one argument, in quotes, or - to read it from stdin.", exit_code=USAGE
        )
    prompt = _prompt(words[0] if words else None)

    from acp_tui.cli.exec_run import Run

    return asyncio.run(Run(args, agent, prompt).main())


def _prompt(word: str | None) -> str:
    if word is None and sys.stdin.isatty():
        raise UserError("there is no prompt: give one, or - to read it from stdin.", exit_code=USAGE)
    text = word if word is not None and word != "-" else _stdin()
    if not text.strip():
        raise UserError("the prompt is empty.", exit_code=USAGE)
    return text


def _stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise UserError("the prompt on stdin is not UTF-8 text.", exit_code=USAGE) from None

"""`acp-tui exec`: one prompt, no screen. The answer goes to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import sys

from acp_tui.cli.options import (
    USAGE,
    add_agent_options,
    add_session_options,
    add_unattended_options,
    agent_and_prompt,
)
from acp_tui.errors import UserError

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
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument(
        "words", nargs="*", metavar="AGENT [PROMPT | -]", help="the agent, and what to ask it"
    )
    add_agent_options(parser)
    add_unattended_options(parser)
    parser.add_argument(
        "--output", choices=("text", "json", "ndjson"), default="text", help="text, one object, or events"
    )
    add_session_options(parser)


def run(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    agent, word = agent_and_prompt(args.words, args.program, needed=not args.resume)
    if args.resume and word is None and agent is not None:
        agent, word = None, agent  # a recorded session knows its agent
    prompt = _prompt(word)

    import asyncio

    from acp_tui.cli.exec_run import execute

    return asyncio.run(execute(args, agent, prompt))


def _prompt(word: str | None) -> str:
    if word is None and sys.stdin.isatty():
        raise UserError("there is no prompt: give one, or - to read it from stdin.", exit_code=USAGE)
    try:
        text = word if word is not None and word != "-" else sys.stdin.read()
        text.encode()
    except UnicodeError:
        raise UserError("the prompt is not UTF-8 text.", exit_code=USAGE) from None
    if not text.strip():
        raise UserError("the prompt is empty.", exit_code=USAGE)
    return text

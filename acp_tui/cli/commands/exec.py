"""`acp-tui exec`: runs one prompt non-interactively. The answer goes to stdout, the rest to stderr."""

from __future__ import annotations

import argparse

from acp_tui.cli.options import (
    add_agent_options,
    add_session_options,
    add_unattended_options,
    add_worktree_options,
    agent_and_prompt,
    read_prompt,
)
from acp_tui.errors import UsageError

EPILOG = """\
exit codes: 0 turn completed; 1 failure; 2 usage error; 3 other stop reason, or with --frames an answer
that is an error; 130 cancelled.
Ctrl+C cancels the turn; a second Ctrl+C quits immediately.

examples:
  acp-tui exec demo tour --policy yolo
  acp-tui exec claude-code 'why does test_login fail?' --policy read-only
  git diff | acp-tui exec gemini - --output json
  acp-tui exec --command 'python3 my_agent.py' hello --allow 'execute:pytest'
  acp-tui exec --command 'python3 my_agent.py' --frames messages.ndjson
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument(
        "words",
        nargs="*",
        metavar="AGENT [PROMPT | -]",
        help="name of the agent, then the prompt (- reads the prompt from stdin)",
    )
    add_agent_options(parser)
    add_unattended_options(parser)
    parser.add_argument(
        "--output",
        choices=("text", "json", "ndjson"),
        default="text",
        help="text (default), one JSON object, or one JSON event per line",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 if the agent sent something that acp-tui did not understand or had to refuse",
    )
    parser.add_argument(
        "--frames",
        metavar="FILE",
        help="send the messages of an NDJSON file (- for stdin), not a prompt; print those of the agent",
    )
    add_session_options(parser)
    add_worktree_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run one prompt, or send the messages of a file, and return the exit code."""
    if args.frames is not None:
        return _run_frames(args)
    is_resumed = args.resume or args.continue_latest
    agent, word = agent_and_prompt(args.words, args.program, needed=not is_resumed)
    if is_resumed and word is None and agent is not None:
        agent, word = None, agent  # the single argument is the prompt: the recording names the agent
    prompt = read_prompt(word)
    _find_latest(args, agent)

    import asyncio

    from acp_tui.cli.exec_run import execute

    return asyncio.run(execute(args, agent, prompt))


def _run_frames(args: argparse.Namespace) -> int:
    is_resumed = args.resume or args.continue_latest
    agent, word = agent_and_prompt(args.words, args.program, needed=not is_resumed)
    if word is not None:
        raise UsageError("Give either a prompt or --frames.")
    if args.output != "text":
        raise UsageError("--output is for a prompt: --frames prints the agent's messages, one per line.")
    _find_latest(args, agent)

    import asyncio

    from acp_tui.cli.exec_frames import execute_frames

    return asyncio.run(execute_frames(args, agent))


def _find_latest(args: argparse.Namespace, agent: str | None) -> None:
    """For --continue, resume the latest session."""
    if args.continue_latest:
        from acp_tui.cli.recordings import latest_session

        args.resume = latest_session(args.cwd, agent, args.program)
        args.cwd = None  # use the session's folder, which may be a worktree of this folder

"""`acp-tui doctor`: starts an agent and reports its capabilities and protocol violations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from acp_tui.cli.options import FAILED, OK, add_agent_options, add_unattended_options, agent_and_prompt
from acp_tui.console.streams import content_stream
from acp_tui.session.text.safe_text import json_text

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument("words", nargs="*", metavar="AGENT", help="name of the agent")
    add_agent_options(parser)
    add_unattended_options(parser)
    parser.add_argument("--prompt", metavar="TEXT", help="also run one turn and check it")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if the agent violates the protocol"
    )
    parser.set_defaults(resume=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the report. Return 1 if the agent failed or, with --strict, violates the protocol."""
    agent, extra = agent_and_prompt(args.words, args.program, needed=True)
    prompt = args.prompt if args.prompt is not None else extra

    import asyncio

    from acp_tui.cli.doctor_run import examine
    from acp_tui.doctor.report_text import report_lines

    report = asyncio.run(examine(args, agent, prompt))
    if args.json:
        print(json_text(report, ascii_only=sys.stdout.isatty(), indent=2), file=content_stream())
    else:
        print("\n".join(report_lines(report)))
    failed = report["error"] or (args.strict and report["deviations"])
    return FAILED if failed else OK

"""`acp-tui logout AGENT`: signs out of an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from acp_tui.cli.options import CANCELLED, OK, USAGE
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="name of the agent")
    parser.add_argument(
        "--command", dest="program", metavar="'PROG ARGS'", help="start the agent with this command"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Sign out and return the exit code."""
    import asyncio

    from acp_tui.cli.agent_sign_in import sign_out

    if args.agent is None and args.program is None:
        raise UserError("Name an agent (see `acp-tui agents`) or use --command 'PROG ARGS'.", exit_code=USAGE)
    try:
        account = asyncio.run(sign_out(args.agent, args.program))
    except KeyboardInterrupt:
        raise UserError("Cancelled.", exit_code=CANCELLED) from None
    if args.json:
        print(json.dumps({"agent": account.launch.name, "signed_out": True}))
    else:
        print(f"Signed out of {account.launch.title}.")
    return OK

"""`acp-tui logout AGENT`: signs out of an agent."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from acp_tui.cli.options import CANCELLED, OK, add_account_options, add_remote_options, require_agent
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    add_account_options(parser)
    add_remote_options(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    from acp_tui.cli.agent_sign_in import sign_out

    require_agent(args.agent, args.program)
    try:
        account = asyncio.run(sign_out(args))
    except KeyboardInterrupt:
        raise UserError("Cancelled.", exit_code=CANCELLED) from None
    if args.json:
        print(json.dumps({"agent": account.launch.name, "signed_out": True}))
    else:
        print(f"Signed out of {account.launch.title}.")
    return OK

"""`acp-tui login AGENT`: signs in to an agent."""

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
    parser.add_argument("--method", metavar="ID", help="the sign-in method, by id or name (default: ask)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    from acp_tui.cli.agent_sign_in import sign_in

    require_agent(args.agent, args.program)
    try:
        account, method = asyncio.run(sign_in(args))
    except KeyboardInterrupt:
        raise UserError("The sign-in was cancelled.", exit_code=CANCELLED) from None
    if args.json:
        print(json.dumps({"agent": account.launch.name, "method": method.id, "signed_in": True}))
    else:
        print(f"Signed in to {account.launch.title} with {method.name}.")
    return OK

"""`acp-tui mcp sign-in NAME`: signs in to an HTTP server with the browser, or with client credentials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import add_file_option, server_named
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    import argparse

CANCELLED = 130
"""The exit code after Ctrl+C."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.add_argument("name", metavar="NAME", help="the server")
    parser.add_argument(
        "--paste",
        action="store_true",
        help="read the address of the page where the browser ended up (or the code in that address) from "
        "stdin, even if stdin is not a terminal; implies --no-browser",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the sign-in address without opening it"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Sign in and return the exit code."""
    import asyncio

    from acp_tui.cli.mcp.terminal_sign_in import TerminalSignIn
    from acp_tui.mcp.sign_in.actions import sign_in
    from acp_tui.mcp.sign_in.stored_state import sign_in_state

    server = server_named(args.name, args.mcp_config)
    name = visible_line(server.name)
    before = sign_in_state(server.url)
    terminal = TerminalSignIn(may_open=not (args.no_browser or args.paste), always_read=args.paste)
    try:
        state = asyncio.run(sign_in(server, terminal.interaction()))
    except KeyboardInterrupt:
        raise UserError(f"The sign-in to {name} was cancelled.", exit_code=CANCELLED) from None
    if args.json:
        facts = {"signed_in": state is not None} | (state.as_json() if state is not None else {})
        print(json.dumps({"name": server.name, "url": server.url, **facts}))
    elif state is None:
        print(f"{name} does not require a sign-in.")
    elif before is not None and before.signed_in_at == state.signed_in_at:
        print(f"{name}: already {state.describe()}.\nSign out first to use another account.")
    else:
        print(f"{name}: {state.describe()}.")
    return 0

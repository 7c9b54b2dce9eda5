"""`acp-tui mcp sign-out NAME`: deletes the stored tokens and client registration of a server."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import servers_here
from acp_tui.cli.options import add_file_option
from acp_tui.config import mcp
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="the server, or the URL of a server that is no longer defined"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    from acp_tui.mcp.sign_in.token_store import sign_out

    url = _url(args)
    was_signed_in = asyncio.run(sign_out(url))
    if args.json:
        print(json.dumps({"name": args.name, "url": url, "signed_out": was_signed_in}))
    elif was_signed_in:
        print(f"Signed out of {escape_line(args.name)}. Its tokens and client registration were deleted.")
    else:
        print(f"You were not signed in to {escape_line(args.name)}.")
    return 0


def _url(args: argparse.Namespace) -> str:
    """Return the URL of the server, even if variables in the server's definition are not set."""
    if args.name.startswith(("http://", "https://")):
        return str(args.name)
    server = servers_here(args.mcp_config).defined(args.name)
    try:
        return mcp.resolve_server(server).url
    except mcp.CannotSendError:
        return server.url

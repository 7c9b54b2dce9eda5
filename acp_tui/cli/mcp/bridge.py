"""`acp-tui mcp bridge NAME`: a stdio MCP server that passes an agent's messages on to the server NAME."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.options import add_file_option
from acp_tui.errors import UsageError

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the server")
    add_file_option(parser, "JSON file with mcpServers (repeatable; only without --socket)")
    parser.add_argument("--socket", metavar="PATH", type=Path, help="socket of the running acp-tui")
    parser.add_argument("--session", metavar="ID", help="session of the running acp-tui")


def run(args: argparse.Namespace) -> int:
    """Run the bridge until the agent closes stdin, acp-tui ends, or a signal ends the bridge."""
    from acp_tui.mcp.bridge.program import run_alone, run_with_app

    if (args.socket is None) != (args.session is None):
        raise UsageError("--socket and --session must be given together.")
    if args.socket is not None:
        asyncio.run(run_with_app(args.name, args.socket, args.session))
        return 0
    from acp_tui.cli.mcp.server_selection import server_named

    asyncio.run(run_alone(server_named(args.name, args.mcp_config)))
    return 0

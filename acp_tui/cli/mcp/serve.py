"""`acp-tui mcp serve`: a stdio MCP server with acp-tui's own tools, for an agent of a running acp-tui."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--socket", metavar="PATH", type=Path, required=True, help="socket of the running acp-tui"
    )
    parser.add_argument("--session", metavar="ID", required=True, help="session of the running acp-tui")


def run(args: argparse.Namespace) -> int:
    """Run the server until the agent closes stdin or acp-tui closes the connection."""
    from acp_tui.mcp.own_server import serve

    asyncio.run(serve(args.socket, args.session))
    return 0

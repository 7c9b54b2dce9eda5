"""`acp-tui mcp serve`: acp-tui's own tools as an MCP server over stdio, for an agent of a running acp-tui."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.add_argument("--socket", metavar="PATH", type=Path, required=True, help="socket of the acp-tui")
    parser.add_argument("--session", metavar="ID", required=True, help="session in the acp-tui")


def run(args: argparse.Namespace) -> int:
    """Answer the agent until it closes stdin."""
    from acp_tui.mcp.own_server.program import serve

    asyncio.run(serve(args.socket, args.session))
    return 0

"""The MCP server that comes with the demo agent. No other agent gets this server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import acp_tui
from acp_tui.config import mcp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.config.mcp import ServerState

DEMO = "demo"
"""The name of the demo agent, and also of its MCP server."""


def demo_server(states: Mapping[str, ServerState]) -> mcp.Server:
    """Return the definition of the server. `states` says, by the server's name, whether the server is on."""
    program = Path(acp_tui.__file__).parent / "demo" / "mcp_server.py"
    args = ["-P", "-m", "acp_tui.demo.mcp_server"]
    server = mcp.Server(DEMO, program, None, command=sys.executable, args=args, agents=[DEMO])
    return mcp.with_states([server], states)[0]

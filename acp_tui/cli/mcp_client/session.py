"""Connects to an MCP server for one action on the command line.

Signs in, writes the server's log, and lets the user answer the server's questions.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.console.messages import print_message

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.connection import McpConnection
    from acp_tui.mcp.server_recorder import ServerRecorder


@asynccontextmanager
async def connected(
    server: ResolvedServer, source: str
) -> AsyncGenerator[tuple[McpConnection, ServerRecorder]]:
    """Connect to a server. The user answers the server's questions on the terminal. Raises `ServerFailure`.

    `source` is the name of the action, for the server's log.
    """
    from acp_tui.cli.mcp_client.terminal_form import TerminalForm
    from acp_tui.mcp.connection import connect
    from acp_tui.mcp.failures import ServerFailure
    from acp_tui.mcp.handlers import ServerHandlers
    from acp_tui.mcp.server_recorder import ServerRecorder
    from acp_tui.mcp.sign_in.actions import provider_for

    recorder = ServerRecorder(server, source)
    base = ServerHandlers(on_elicitation=TerminalForm().answer, on_waiting=print_message)
    try:
        async with connect(
            server, roots=[Path.cwd()], auth=provider_for(server), handlers=recorder.handlers(base)
        ) as connection:
            recorder.connected(connection.protocol_version, connection.server_version)
            yield connection, recorder
    except ServerFailure as failure:
        recorder.failed(failure)
        raise

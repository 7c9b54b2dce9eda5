"""Decides whether and how an agent is given acp-tui's own MCP server when a session is opened."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from acp_tui.session.mcp_tool import OWN_SERVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.controller.mcp.app_socket import AppSocket
    from acp_tui.controller.own_server.acp_channel import AcpChannel
    from acp_tui.session.state import Agent


class OwnServerOffer:
    """Offers acp-tui's MCP server to an agent: inside the ACP connection if possible, else as a process."""

    def __init__(self, is_on: Callable[[], bool], channel: AcpChannel, socket: AppSocket) -> None:
        self._is_on = is_on
        self._channel = channel
        self._socket = socket

    async def server(self, agent: Agent) -> dict[str, Any] | None:
        """Return the server as an ACP object; None if the agent gets no server. Raises `UserError`."""
        self._channel.withdraw()
        if not self._is_on():
            return None
        if agent.can("mcpCapabilities", "acp"):
            return self._channel.declare()
        path = await self._socket.open()
        command = ["-P", "-m", "acp_tui", "mcp", "serve"]  # -P: no modules from the workspace
        arguments = ["--socket", str(path), "--session", self._socket.session_key]
        return {"name": OWN_SERVER, "command": sys.executable, "args": [*command, *arguments], "env": []}

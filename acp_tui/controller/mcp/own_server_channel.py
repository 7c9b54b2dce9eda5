"""acp-tui's own MCP server inside the ACP connection, for agents that advertise `mcpCapabilities.acp`.

Both sides use one ACP method, `mcp/message`. Each ACP request of the agent contains one MCP request. The ACP
result contains the MCP result or the MCP error. acp-tui sends MCP notifications with the same method. The
agent gets an ACP error if its request does not reach the MCP server.
"""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING, Any

from acp_tui.errors import Refusal
from acp_tui.mcp.json_rpc_peer import JsonRpcError
from acp_tui.mcp.own_server.own_server import McpMessages
from acp_tui.session.mcp_tool import OWN_SERVER
from acp_tui.session.record import INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.controller.mcp.app_socket import AppSocket
    from acp_tui.controller.request_params import Params
    from acp_tui.mcp.own_server.own_server import ToolSource
    from acp_tui.session.state import Agent


METHOD = "mcp/message"


class AcpChannel:
    """Answers the MCP requests that an agent sends inside the ACP connection."""

    def __init__(self, source: ToolSource, notify: Callable[[str, dict[str, Any]], Awaitable[None]]) -> None:
        """`notify` sends a notification to the agent."""
        self._messages = McpMessages(source)
        self._notify = notify
        self._server_id: str | None = None  # None while the agent is not given the server
        self._running: set[str] = set()  # ids of MCP requests

    def declare(self) -> dict[str, Any]:
        """Return the server as an ACP object. From now on the new `serverId` is valid."""
        self._server_id = f"{OWN_SERVER}-{secrets.token_hex(8)}"
        return {"type": "acp", "name": OWN_SERVER, "serverId": self._server_id}

    def withdraw(self) -> None:
        """Refuse further requests: the `serverId` that the agent has is no longer valid."""
        self._server_id = None

    async def answer(self, params: Params) -> dict[str, Any]:
        """Return the result of an `mcp/message` request. Raises `Refusal`."""
        server_id, request_id = params.text("serverId"), params.text("requestId")
        method, inner = params.text("method"), params.values.get("params")
        if server_id != self._server_id:
            raise Refusal(INVALID_PARAMS, f"{METHOD}: there is no MCP server {server_id!r} here")
        if request_id in self._running:
            raise Refusal(INVALID_PARAMS, f"{METHOD}: the request {request_id!r} is already running")

        async def notify(name: str, values: dict[str, Any]) -> None:
            envelope = {"serverId": server_id, "requestId": request_id, "method": name, "params": values}
            await self._notify(METHOD, envelope)

        self._running.add(request_id)
        try:
            return {"result": await self._messages.answer(method, inner, notify)}
        except JsonRpcError as error:
            return {"error": error.as_json()}
        finally:
            self._running.discard(request_id)


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

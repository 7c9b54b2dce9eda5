"""The program of `acp-tui mcp serve`: acp-tui's own MCP server as a process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from acp_tui.mcp.app_link import AppLink
from acp_tui.mcp.bridge.standard_streams import open_standard_streams
from acp_tui.mcp.json_rpc_peer import JsonRpcPeer
from acp_tui.mcp.own_server.mcp_messages import McpMessages

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.mcp.json_rpc_peer import RequestId


class AppTools:
    """The tools of the running acp-tui as a `ToolSource`."""

    def __init__(self, link: AppLink) -> None:
        self._link = link

    async def tools(self) -> list[dict[str, Any]]:
        """Return the tools as MCP objects."""
        found: list[dict[str, Any]] = await self._link.request("tools")
        return found

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool in the app. If the task is cancelled, the app is told to cancel the call."""
        result: dict[str, Any] = await self._link.request("tool", name=name, arguments=arguments)
        return result


async def serve(socket: Path, session_key: str) -> None:
    """Serve the agent until it closes stdin or the app closes the connection. Raises `UserError`."""
    link = await AppLink.connect(socket, session_key)
    try:
        messages = McpMessages(AppTools(link))

        async def answer(method: str, params: Any, _request_id: RequestId) -> dict[str, Any]:
            return await messages.answer(method, params, notify)

        async def notify(method: str, params: dict[str, Any]) -> None:
            peer.notify(method, params)

        peer = JsonRpcPeer(await open_standard_streams(), on_request=answer)
        agent, app = asyncio.create_task(peer.run()), asyncio.create_task(link.wait_closed())
        await asyncio.wait({agent, app}, return_when=asyncio.FIRST_COMPLETED)
        agent.cancel()
        app.cancel()
        await asyncio.gather(agent, app, return_exceptions=True)
    finally:
        await link.close()

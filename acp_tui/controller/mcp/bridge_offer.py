"""Lists MCP servers for an agent, as ACP objects. Each object describes a server itself or a bridge to it.

`config.mcp.agent_servers.bridge_reason` decides which servers need a bridge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.session.events import Noticed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.config.mcp import SentServer
    from acp_tui.controller.mcp.app_socket import AppSocket
    from acp_tui.controller.mcp.bridge_host import BridgeHost
    from acp_tui.session.events import Event


class BridgeOffer:
    """Converts servers to ACP objects, with bridges where they are needed."""

    def __init__(self, host: BridgeHost, socket: AppSocket, note: Callable[[Event], None]) -> None:
        self._host = host
        self._socket = socket
        self._note = note

    async def objects(self, servers: Sequence[SentServer]) -> list[dict[str, Any]]:
        """Return the servers as ACP objects, in the given order.

        If the socket cannot be opened, servers that need a bridge are left out, and a notice lists them.
        """
        wanted = [one.server for one in servers if one.bridge_reason is not None]
        try:
            bridges = {bridge["name"]: bridge for bridge in await self._host.offer(wanted, self._socket)}
        except UserError as error:
            names = ", ".join(server.name for server in wanted)
            self._note(Noticed("warning", f"{error} These MCP servers are not used: {names}."))
            bridges = {}
        direct = {one.server.name: one.server.for_agent() for one in servers if one.bridge_reason is None}
        found = direct | bridges
        return [found[one.server.name] for one in servers if one.server.name in found]


def is_signed_in(url: str) -> bool:
    """Return whether the user has signed in at the MCP server with this URL."""
    from acp_tui.mcp.sign_in.stored_state import sign_in_state

    return sign_in_state(url) is not None

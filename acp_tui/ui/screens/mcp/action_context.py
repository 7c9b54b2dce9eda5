"""What the actions of the MCP screen work with: the screen, its state, and callbacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from acp_tui.errors import UserError
    from acp_tui.ui.screens.mcp.live_servers import LiveServers, McpContext
    from acp_tui.ui.screens.mcp.mcp_state import McpState


@dataclass(frozen=True, slots=True)
class McpActionContext:
    """The MCP screen, its state, and the callbacks for its actions."""

    screen: Screen[None]
    context: McpContext
    live: LiveServers
    state: McpState
    reload: Callable[[], None]
    """Schedules another read of the servers and the facts saved about them."""
    show_error: Callable[[UserError], None]

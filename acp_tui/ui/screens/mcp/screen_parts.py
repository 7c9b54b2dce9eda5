"""What the actions of the MCP screen share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from acp_tui.errors import UserError
    from acp_tui.ui.screens.mcp.live_servers import LiveServers
    from acp_tui.ui.screens.mcp.mcp_context import McpContext
    from acp_tui.ui.screens.mcp.mcp_state import McpState
    from acp_tui.ui.theme.palette import Palette


@dataclass(frozen=True, slots=True)
class ScreenParts:
    """The screen, what it shows, and how it is updated."""

    screen: Screen[None]
    context: McpContext
    live: LiveServers
    state: McpState
    palette: Callable[[], Palette]
    reload: Callable[[], None]
    """Reads the servers and what is saved about them again soon."""
    show_error: Callable[[UserError], None]

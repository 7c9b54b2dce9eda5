"""The data and callbacks that a conversation or the launcher passes to the MCP screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.store.mcp.mcp_facts import ServerFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from acp_tui.config.mcp import Server
    from acp_tui.session.events import Event
    from acp_tui.session.state import Session
    from acp_tui.ui.screens.mcp.live_servers import LiveServers


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A server as configured, with what is saved about it."""

    server: Server
    withheld: str = ""
    """Why the server may not be started, as a clause; empty if it may."""
    not_sent: str = ""
    """Why the server was not passed to the agent, as a clause; empty if it was, or if no session is open."""
    is_bridged: bool = False
    """Whether the bridge is passed to agents instead of the server itself."""
    file_changed_at: float | None = None
    """When the file with the definition was changed, in seconds since the epoch; None if unknown."""
    agreed_at: float | None = None
    """When the user allowed or denied the server; None if unknown, or if no project defines the server."""
    saved: ServerFacts = field(default_factory=ServerFacts)
    signed_in: bool = False
    """Whether tokens for the server are stored."""
    agreed_tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The definitions of the tools that the user accepted, by name; see `inspection_record.tool_parts`."""

    @property
    def key(self) -> str:
        """A text that identifies this definition of the server."""
        return f"{self.server.name}\n{self.server.origin}"

    @property
    def can_start(self) -> bool:
        """Whether acp-tui may start the server or connect to it."""
        return self.server.is_on and not self.withheld and not self.server.problems


@dataclass(frozen=True, slots=True)
class McpContext:
    """What the MCP screen gets from its conversation, or from the launcher."""

    load_servers: Callable[[], Sequence[KnownServer]]
    """Reads the servers and what is saved about them. Blocks: call it in a thread."""
    cwd: Path
    live: LiveServers
    """The connections, which outlive the screen."""
    session: Session
    """The session of the conversation; an empty one on the launcher."""
    agent: str = ""
    """The title of the agent; empty on the launcher."""
    note: Callable[[Event], None] | None = None
    """Adds an event to the conversation; None on the launcher."""
    edit_file: Callable[[str, int | None], None] | None = None
    """Opens a file in the editor; None on the launcher."""

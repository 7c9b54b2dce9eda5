"""A session that a client has open."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer, StopReason

    from acp_tui.demo.store import StoredSession

    McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


@dataclass
class OpenSession:
    """What is remembered of it, and what goes on in it."""

    stored: StoredSession
    sign_out: Callable[[], None]
    mcp_servers: list[McpServer] = field(default_factory=list)
    few_commands: bool = False
    work: asyncio.Task[StopReason] | None = None
    _background: set[asyncio.Task[None]] = field(init=False, default_factory=set)

    def cancel(self) -> None:
        """Stop what is going on, if anything."""
        if self.work is not None:
            self.work.cancel()

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside or after the turn."""
        task = asyncio.create_task(work)
        self._background.add(task)  # the event loop alone would let it be collected
        task.add_done_callback(self._background.discard)

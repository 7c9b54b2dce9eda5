"""The state of a session while a client has the session open."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from acp.schema import StopReason

    from acp_tui.demo.sessions.store import StoredSession
    from acp_tui.demo.tools.mcp_client import McpConnections, McpServer


@dataclass
class OpenSession:
    """A stored session, and the state that is kept only until the session is closed."""

    stored: StoredSession
    sign_out: Callable[[], None]
    mcp_servers: list[McpServer] = field(default_factory=list)
    mcp_connections: McpConnections | None = None  # opened by the first `/mcp`
    few_commands: bool = False
    turn_task: asyncio.Task[StopReason] | None = None
    _subagents: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)  # by session id
    _background: set[asyncio.Task[None]] = field(init=False, default_factory=set)

    def cancel(self) -> None:
        """Cancel the running turn, if any."""
        if self.turn_task is not None:
            self.turn_task.cancel()

    def run_subagent(self, session_id: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run the work of a subagent in a task that `cancel_subagent` can cancel, and return the task."""
        task = self._subagents[session_id] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._subagents.pop(session_id, None))
        return task

    def cancel_subagent(self, session_id: str) -> None:
        """Cancel the work of a subagent, if the subagent belongs to this session and is still running."""
        if session_id in self._subagents:
            self._subagents[session_id].cancel()

    def cancel_subagents(self) -> None:
        """Cancel the work of all subagents."""
        for task in self._subagents.values():
            task.cancel()

    def run_in_background(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background, independent of the turn."""
        task = asyncio.create_task(coroutine)
        self._background.add(task)  # the event loop keeps only a weak reference
        task.add_done_callback(self._background.discard)

"""Records when an MCP server was given to an agent, and when the agent called a tool of the server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.session.events import Event, McpCalled, SessionOpened, SessionOpening
from acp_tui.session.state import ToolCall
from acp_tui.store.mcp_facts import McpFacts

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.session.record import Change


EVIDENCE = {"name": "the agent's name for the tool", "title": "the agent's title for the call"}
"""Where the names of a call's server and tool were found, by `McpTool.source`."""


class UsageFacts:
    """Observes one conversation, and saves facts about how its MCP servers are used."""

    def __init__(self, servers: Sequence[Server], agent: str, session_id: str) -> None:
        """Create an observer.

        Args:
            servers: The definitions. The caller may change the list later.
            agent: The name of the agent.
            session_id: The id under which the session is recorded; empty if it is not recorded.
        """
        self._servers = servers
        self._agent = agent
        self._session_id = session_id
        self._opening: list[str] = []  # the names of the servers that are being sent
        self._seen: set[int] = set()  # ids of tool calls that have been saved
        self._saving: set[asyncio.Future[None]] = set()

    def record(self, events: Sequence[Event], changes: Sequence[Change], *, history: bool) -> None:
        """Save the facts that these events and changes contain.

        `history` is true while an earlier session is replayed. Then the tool calls in
        `changes` are ignored.
        """
        for event in events:
            if isinstance(event, SessionOpening):
                self._opening = event.mcp_servers
            elif isinstance(event, SessionOpened):
                self._save_sent()
            elif isinstance(event, McpCalled) and event.by == "agent":
                self._save_use(event.server, event.tool, "the bridge")
        if history:
            return
        for change in changes:
            call = change.entry
            if isinstance(call, ToolCall) and call.mcp_tool is not None and call.id not in self._seen:
                self._seen.add(call.id)
                evidence = EVIDENCE[call.mcp_tool.source]
                self._save_use(call.mcp_tool.server, call.mcp_tool.name, evidence)

    async def finish(self) -> None:
        """Wait until everything is saved."""
        if self._saving:
            await asyncio.wait(self._saving)

    def _save_sent(self) -> None:
        digests = self._digests()
        sent = [(name, digests[name]) for name in self._opening if name in digests]
        if sent:
            self._save(lambda facts: facts.add_sent(sent, agent=self._agent, session=self._session_id))

    def _save_use(self, server: str, tool: str, evidence: str) -> None:
        digest = self._digests().get(server)
        if digest is not None:
            self._save(lambda facts: facts.add_use(server, digest, tool=tool, evidence=evidence))

    def _digests(self) -> dict[str, str]:
        """Return, by server name, the digest of the last server definition with that name."""
        return {server.name: server.digest() for server in self._servers}

    def _save(self, save: Callable[[McpFacts], None]) -> None:
        def run() -> None:
            with contextlib.suppress(OSError):  # not essential: only lists of servers show these facts
                save(McpFacts(paths().state))

        saving = asyncio.get_running_loop().run_in_executor(None, run)
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)

"""The MCP tools that the user has accepted, and how they have changed since."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.store.mcp.mcp_facts import McpFacts

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer


class AgreedTools:
    """The tools that the user accepted from one server, identified by the digests of their definitions."""

    def __init__(self, server: ResolvedServer) -> None:
        self._server = server
        self._facts = McpFacts(paths().state)
        self._agreed: dict[str, str] = {}  # the digests that `agree` was called with, by tool

    def change(self, tool: str, digest: str | None) -> str | None:
        """Return how a tool has changed since the user accepted it, as a clause.

        Return None if the tool is unchanged or was never accepted. `digest` is None if the server does not
        list the tool. Reads a file: call it in a thread.
        """
        agreed = self._facts.read(self._server.name, self._server.digest).agreed
        before = agreed.digests.get(tool) if agreed is not None else None
        if before is None or before == digest:
            return None
        if digest is None:
            return "the server does not list this tool now, but you accepted it"
        return "its description or schema has changed since you accepted it"

    def has_agreed(self, tool: str, digest: str) -> bool:
        """Return whether `agree` was called for this tool with this digest."""
        return self._agreed.get(tool) == digest

    def agree(self, tool: str, digest: str) -> None:
        """Save that the user accepts a tool with this digest. Writes a file: call it in a thread."""
        name, definition = self._server.name, self._server.digest
        agreed = self._facts.read(name, definition).agreed
        digests = dict(agreed.digests) if agreed is not None else {}
        self._agreed[tool] = digest
        if digests.get(tool) == digest:
            return
        with contextlib.suppress(OSError):  # then the next call of a changed tool asks again
            self._facts.agree_to_tools(name, definition, {**digests, tool: digest})

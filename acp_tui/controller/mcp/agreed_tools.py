"""The MCP tools that the user has accepted, and how they have changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.mcp.mcp_facts import McpFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.config.mcp import ResolvedServer


class AgreedTools:
    """The tools that the user accepted from one server, identified by the digests of their definitions.

    The first complete list of tools that is seen counts as accepted, whoever has requested it. What cannot be
    saved applies until the session ends.

    The methods read and write files: call them in a thread.
    """

    def __init__(self, server: ResolvedServer) -> None:
        self._server = server
        self._facts = McpFacts(paths().state)
        self._first: dict[str, str] | None = None  # the first list of tools, by name, if it is not saved
        self._agreed: dict[str, str] = {}  # the digests that `agree` was called with, by tool

    def see(self, digests: dict[str, str], tools: Sequence[dict[str, Any]]) -> str | None:
        """Accept all tools if no others were accepted before.

        Args:
            digests: The digest of each tool, by name.
            tools: The tools as in the result of `tools/list`.

        Returns a sentence if this cannot be saved.
        """
        from acp_tui.mcp.inspection import tool_info
        from acp_tui.mcp.inspection_record import agree_to_first_tools

        name = self._server.name
        try:
            agree_to_first_tools(name, self._server.digest, digests, [tool_info(tool) for tool in tools])
        except OSError as error:
            if self._first is None and self._saved() is None:
                self._first = dict(digests)
            return self._unsaved(error)
        return None

    def change(self, tool: str, digest: str | None) -> str | None:
        """Return how a tool has changed since the user accepted it, as a clause.

        Return None if the tool is unchanged, or if it cannot be compared because no list of tools was seen.
        `digest` is None if the server does not list the tool.
        """
        if digest is not None and self.has_agreed(tool, digest):
            return None
        saved = self._saved()
        known = self._first if saved is None else saved
        before = (known or {}).get(tool, self._agreed.get(tool))
        if before == digest:
            return None
        if before is None:
            return None if known is None else "it is not among the tools of the server that you accepted"
        if digest is None:
            return "the server does not list this tool now, but you accepted it"
        return "its description or schema has changed since you accepted it"

    def has_agreed(self, tool: str, digest: str) -> bool:
        """Return whether `agree` was called for this tool with this digest."""
        return self._agreed.get(tool) == digest

    def agree(self, tool: str, digest: str) -> str | None:
        """Save that the user accepts a tool with this digest. Return a sentence if it cannot be saved."""
        self._agreed[tool] = digest
        digests = self._saved()
        if digests is None or digests.get(tool) == digest:
            return None  # without a complete list, the other tools would seem to be new
        try:
            self._facts.agree_to_tools(self._server.name, self._server.digest, {**digests, tool: digest})
        except OSError as error:
            return self._unsaved(error)
        return None

    def _saved(self) -> dict[str, str] | None:
        agreed = self._facts.read(self._server.name, self._server.digest).agreed
        return None if agreed is None else agreed.digests

    def _unsaved(self, error: OSError) -> str:
        name = visible_line(self._server.name)
        return (
            f"The accepted tools of the MCP server {name} cannot be saved ({error.strerror or error}). "
            "They count as accepted until this session ends."
        )

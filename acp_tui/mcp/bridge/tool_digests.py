"""The digests of a server's tools, as listed to the agent and as listed to the bridge."""

from __future__ import annotations

from typing import Any

from acp_tui.mcp.inspection import combined_digest, tool_digest


class ToolDigests:
    """The digests of a server's tools, as last listed to the agent and to the bridge.

    A hostile server can list one definition for the agent and another one for acp-tui. A tool with several
    definitions gets a combined digest, which differs from the digest of each definition.
    """

    def __init__(self) -> None:
        self._shown: dict[str, set[str]] = {}
        self._listed: dict[str, str] = {}
        self._is_stale = False  # whether the server has reported a change since the agent listed the tools

    def show(self, tools: list[dict[str, Any]], *, continues: bool) -> None:
        """Store the digests of the tools on a page that the agent has requested.

        The first page, for which `continues` is False, replaces all stored digests.
        """
        if not continues:
            self._shown, self._listed, self._is_stale = {}, {}, False
        for tool in tools:
            self._shown.setdefault(tool["name"], set()).add(tool_digest(tool))

    def add(self, tools: list[dict[str, Any]]) -> None:
        """Store the digests of the tools on a page that the bridge has requested, not the agent."""
        self._listed |= {tool["name"]: tool_digest(tool) for tool in tools}

    def forget(self) -> None:
        """Treat all definitions as outdated, because the server has reported a change."""
        self._listed, self._is_stale = {}, True

    def is_known(self, name: str) -> bool:
        """Return True if the server has listed a tool and has not reported a change since then."""
        return name in self._listed or (name in self._shown and not self._is_stale)

    def all(self) -> dict[str, str]:
        """Return the digest of each tool that the server has listed, by name."""
        names = dict.fromkeys([*self._shown, *self._listed])
        return {name: digest for name in names if (digest := self.of(name)) is not None}

    def of(self, name: str) -> str | None:
        """Return the digest of a tool; None if no digest of the tool is stored."""
        found = {*self._shown.get(name, ()), *filter(None, [self._listed.get(name)])}
        return combined_digest(found) if found else None

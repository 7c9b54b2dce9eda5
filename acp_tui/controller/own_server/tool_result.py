"""The result of a tool of acp-tui's own MCP server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, for the agent and for the transcript."""

    text: str
    failed: bool = False
    structured: dict[str, Any] | None = None
    recorded: str | None = None
    """The text for the transcript if `text` must not appear there; otherwise None."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as an MCP `CallToolResult`."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": self.failed,
        }
        return result if self.structured is None else result | {"structuredContent": self.structured}


def failure(sentence: str) -> ToolResult:
    """Return the result of a tool that has failed, with the reason."""
    return ToolResult(sentence, failed=True)

"""The result of a tool of acp-tui's own MCP server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the agent is told."""

    text: str
    failed: bool = False
    structured: dict[str, Any] | None = None
    recorded: str | None = None
    """What the transcript says instead of `text`; None if that may be shown and stored."""

    def as_json(self) -> dict[str, Any]:
        """Return the `CallToolResult` of MCP."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": self.failed,
        }
        return result if self.structured is None else result | {"structuredContent": self.structured}


def failure(sentence: str) -> ToolResult:
    """Return the result of a tool that has failed, with the reason."""
    return ToolResult(sentence, failed=True)

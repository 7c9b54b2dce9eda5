"""Plain facts about a conversation, for those who show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A file as it was when the session began and as it is now; names and texts are as the disk has them."""

    old: str | None = None  # None: it was not there
    new: str | None = None  # None: it is not there any more
    revert_obstacle: str | None = None
    """Why there is nothing to compare, in a sentence; None when there is."""


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """One MCP server of the settings, and whether the agent was given it."""

    name: str
    transport: str
    reason_not_sent: str | None = None
    """Why it was left out, without the first capital and the full stop; None: the agent has it."""

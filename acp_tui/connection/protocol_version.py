"""The versions of the Agent Client Protocol that acp-tui speaks."""

from __future__ import annotations

from typing import Any

from acp_tui.connection.errors import VersionMismatch
from acp_tui.protocol import draft
from acp_tui.session.text.safe_text import visible_json, visible_line

PROTOCOL_VERSION = 1
ACCEPTED_VERSIONS = (PROTOCOL_VERSION, "1", "1.0")
"""What an agent may answer to `initialize`. The draft of the next version is negotiated separately."""


def mismatch(agent: str, version: Any, stderr: list[str]) -> VersionMismatch:
    """Return the error for an agent with an unsupported version. `stderr`: the end of the agent's stderr."""
    theirs = visible_line(version) if isinstance(version, str) else visible_json(version)
    return VersionMismatch(
        f"{agent} speaks version {theirs} of the Agent Client Protocol; "
        f"acp-tui supports version {PROTOCOL_VERSION} and the draft {draft.VERSION}.",
        stderr,
    )


def other_version_hint() -> str:
    """Return a sentence for an agent that refuses the params of `initialize`."""
    return (
        f"acp-tui asked for version {PROTOCOL_VERSION} of the protocol; "
        "an agent that supports only another version, such as 2, answers like this."
    )

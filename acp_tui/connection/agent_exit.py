"""How an agent's process ended."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AgentExit:
    """How the agent's process ended."""

    code: int | None = None
    signal: str | None = None  # e.g. "SIGTERM"
    stderr_tail: list[str] = field(default_factory=list)  # safe to display
    expected: bool = False  # ended by us
    reason: str | None = None  # continues "{title} …": why it was ended by us, or why its status is unknown

    def describe(self, title: str) -> str:
        """Return what happened, without a full stop."""
        if self.reason:
            return f"{title} {self.reason}"
        if self.signal:
            return f"{title} was ended by {self.signal}"
        return f"{title} ended with exit code {self.code}"

"""The exit of an agent's process."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AgentExit:
    """The exit of an agent's process: code or signal, and the end of its stderr."""

    code: int | None = None
    signal: str | None = None  # e.g. "SIGTERM"
    stderr_tail: list[str] = field(default_factory=list)  # safe to display
    expected: bool = False  # we ended it
    outlived_input: bool = False  # it did not exit when we closed its stdin
    reason: str | None = None  # a clause such as "closed its stdout …": replaces code and signal

    def describe(self, title: str) -> str:
        """Return a sentence about the exit, without a full stop. `title` is the title of the agent."""
        if self.reason:
            return f"{title} {self.reason}"
        if self.signal:
            return f"{title} was killed by {self.signal}"
        return f"{title} exited with code {self.code}"

"""How far the user has seen the conversation. What changes above that is nothing new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.ui.transcript.entry_layout import Stack


@dataclass(frozen=True, slots=True)
class Seen:
    """The end of the conversation at one time."""

    entries: int = 0
    version: int = 0  # of the last one …
    height: int = 0  # … and how high it was

    @classmethod
    def all_of(cls, stack: Stack) -> Seen:
        """All there is now."""
        if not stack.blocks:
            return cls()
        return cls(len(stack), stack.blocks[-1].entry.version, stack.heights[len(stack) - 1])

    def lines_since(self, stack: Stack) -> int:
        """Lines that came below. An entry that has not changed has not grown: it was folded, or resized."""
        if len(stack) < self.entries:
            return 0
        lines = stack.total - stack.heights.top(self.entries)
        if self.entries:
            last = self.entries - 1
            if stack.blocks[last].entry.version != self.version:
                lines += max(0, stack.heights[last] - self.height)
        return lines

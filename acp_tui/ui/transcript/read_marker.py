"""Marks how far the user has seen the conversation, so that later lines can be counted as new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.ui.transcript.entry_layout import EntryLayout


@dataclass(frozen=True, slots=True)
class ReadMarker:
    """Where the conversation ended when the user last saw its end."""

    entries: int = 0
    version: int = 0  # of the last entry
    height: int = 0  # of the last entry

    @classmethod
    def at_end(cls, layout: EntryLayout) -> ReadMarker:
        """Return a marker at the current end."""
        if not layout.blocks:
            return cls()
        return cls(len(layout), layout.blocks[-1].entry.version, layout.heights[len(layout) - 1])

    def lines_since(self, layout: EntryLayout) -> int:
        """Return the number of lines added after the marker.

        Counts the lines of new entries, and the lines added to the entry at the marker. If only the height
        of the entry at the marker has changed, by unfolding or resizing, the entry is not counted.
        """
        if len(layout) < self.entries:
            return 0
        lines = layout.total - layout.heights.top(self.entries)
        if self.entries:
            last = self.entries - 1
            if layout.blocks[last].entry.version != self.version:
                lines += max(0, layout.heights[last] - self.height)
        return lines

"""A line that stays in place on the screen when the heights of entries above the line change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_tui.ui.drawing.body import Body


@dataclass(frozen=True, slots=True)
class Anchor:
    """One line of one entry. If set, `from_end`, `inside` or `part` takes precedence over `line`."""

    index: int  # the entry's index in the layout
    line: int  # the line in the entry, counting the blank lines above it
    gap: int = 0  # the number of blank lines above the entry
    from_end: int | None = None  # lines to the end, for an entry whose height is an estimate
    inside: Any = None  # the position in a long body
    body: Body | None = None  # the body that `inside` belongs to; None: any body of the entry
    part: float | None = None  # after a resize: how far down in the entry, from 0 to 1

    def line_in(self, body: Body, gap: int) -> int:
        """Return the number of the anchored line in the entry, given the entry's current `body` and `gap`."""
        height = gap + body.height
        line = self.line + (gap - self.gap if self.line >= self.gap else 0)
        line_at = getattr(body, "line_at", None)
        if self.from_end is not None:
            line = height - self.from_end
        elif self.inside is not None and line_at is not None and self.body in (None, body):
            line = gap + line_at(self.inside)
        elif self.part is not None:
            line = round(self.part * height)
        return max(0, min(line, height - 1))

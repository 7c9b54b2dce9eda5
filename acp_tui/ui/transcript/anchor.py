"""A line that stays in place on the screen while heights above it change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_tui.ui.drawing.body import Body


@dataclass(frozen=True, slots=True)
class Anchor:
    """One line of one entry, identified in the most stable way available."""

    place: int  # of the entry
    line: int  # of the entry, the blank lines above it counted
    gap: int = 0  # … so many
    from_end: int | None = None  # of an entry never drawn: its height is a guess, so its end is surer
    inside: Any = None  # a long body's own name for the line
    body: Body | None = None  # the one that gave the name; None: any body of the entry understands it
    part: float | None = None  # after a resize: how far down in the entry

    def line_in(self, body: Body, gap: int) -> int:
        """The current number of the line in the entry with this body."""
        height = gap + body.height
        line = self.line + (gap - self.gap if self.line >= self.gap else 0)
        line_of = getattr(body, "line_of", None)
        if self.from_end is not None:
            line = height - self.from_end
        elif self.inside is not None and line_of is not None and self.body in (None, body):
            line = gap + line_of(self.inside)
        elif self.part is not None:
            line = round(self.part * height)
        return max(0, min(line, height - 1))

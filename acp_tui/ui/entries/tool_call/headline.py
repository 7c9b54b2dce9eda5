"""The first line of a call: a fold sign, an icon, what it is, and facts at the right edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.entry_display import STATUS_ICONS, format_duration, relative_path
from acp_tui.ui.drawing.wrap import shorten, shorten_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.ui.drawing.body import DrawContext
    from acp_tui.ui.theme.palette import Palette

__all__ = [
    "FOLDED",
    "OPEN",
    "Headline",
    "StyledText",
    "elapsed",
    "format_duration",
    "line_counts",
    "relative_path",
    "shorten_title",
]

FOLDED, OPEN = "▸", "▾"
MIN_SECONDS = 0.1
"""Seconds; less is not worth a word."""
MIN_TITLE_WIDTH = 10
NOT_BOLD = Style(bold=False)
"""Lines that went are no error."""

StyledText = tuple[str, "Style"]


class Headline(NamedTuple):
    """What stands before the title."""

    lead: list[Segment]

    @classmethod
    def of_entry(cls, icon: str, context: DrawContext, *, foldable: bool) -> Headline:
        """As entries begin."""
        palette = context.palette
        fold = (FOLDED if context.folded else OPEN) if foldable and not context.whole else " "
        return cls([Segment(f"{fold} ", palette.dim), Segment(f"{icon} ", palette.icon)])

    def strip(
        self,
        title: Sequence[StyledText],
        facts: Sequence[StyledText],
        context: DrawContext,
        status: str | None = None,
    ) -> Strip:
        """All of it on one line. The title gives way; when too little is left of it, facts go."""
        end = _end(status, context.palette)
        room = context.width - _cells(self.lead) - _cells(end)
        kept = [fact for fact in facts if fact[0]]
        while kept and room - _width(kept) < MIN_TITLE_WIDTH:
            kept.pop(0)
        right = [segment for text, style in kept for segment in (Segment("  "), Segment(text, style))]
        room = max(1, room - _width(kept))
        middle = _fitted(title, room)
        gap = Segment(" " * (room - _cells(middle)))
        return Strip([*self.lead, *middle, gap, *right, *end]).crop(0, context.width)


def _end(status: str | None, palette: Palette) -> list[Segment]:
    """The sign of a status, or the word of one that has none; a cell is left to the edge."""
    if status is None:
        return [Segment(" " * 4)]
    sign = STATUS_ICONS.get(status) or shorten(status, 12)
    return [Segment("  "), Segment(sign, palette.signs.get(status, palette.dim)), Segment(" ")]


def _width(facts: Sequence[StyledText]) -> int:
    return sum(cell_len(text) + 2 for text, _ in facts)


def _cells(segments: Sequence[Segment]) -> int:
    return sum(cell_len(segment.text) for segment in segments)


def _fitted(title: Sequence[StyledText], room: int) -> list[Segment]:
    found: list[Segment] = []
    for text, style in title:
        if not text or room <= 0:
            continue
        text = shorten_title(text, room)
        room -= cell_len(text)
        found.append(Segment(text, style))
    return found


def shorten_title(title: str, room: int) -> str:
    """A title that ends in a path loses the path's beginning, any other its end."""
    if cell_len(title) <= room:
        return title
    words, _, path = title.rpartition(" ")
    left = room - cell_len(words) - 1 if words else room
    if "/" in path and left >= MIN_TITLE_WIDTH:
        return f"{words} {shorten_path(path, left)}" if words else shorten_path(path, left)
    return shorten(title, room)


def line_counts(added: int, removed: int, palette: Palette) -> list[StyledText]:
    """How many lines came and went; what did not happen is not told."""
    counts = (("+", added, palette.success), ("−", removed, palette.error + NOT_BOLD))
    return [(f"{sign}{count:,}", look) for sign, count, look in counts if count]


def elapsed(at: float, ended_at: float | None, now: Callable[[], float] | None) -> str:
    """How long something took, or has taken so far; "" when that is not worth a word."""
    if ended_at is not None:
        return format_duration(ended_at - at) if ended_at - at > MIN_SECONDS else ""
    seconds = int(now() - at) if now is not None else 0
    return format_duration(seconds) if seconds >= 1 else ""

"""Pieces that panes are drawn with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.widgets.panes.listing import Item
from acp_tui.ui.widgets.transcript.wrap import shortened, strip, wrap

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.ui.palette import Palette
    from acp_tui.ui.widgets.transcript.body import Spans

LABEL = 12
"""Cells of the column before a fact."""
EDGE = 1
"""Cells left free at the right."""


def row(left: Spans, right: Spans, width: int) -> Strip:
    """One line with two ends; the left one is made to fit by whoever calls."""
    used = sum(span.cell_length for span in (*left, *right))
    gap = Segment(" " * max(0, width - EDGE - used))
    return Strip([*left, gap, *right]).crop(0, width)


def heading(title: str, palette: Palette, note: str = "", *, first: bool = False) -> Item:
    """The title of a section."""

    def draw(width: int) -> list[Strip]:
        line = row([Segment(title, palette.strong)], [Segment(note, palette.dim)], width)
        return [line] if first else [Strip([]), line]

    return Item(draw, height=1 if first else 2)


def words(text: str, style: Style) -> Item:
    """A sentence or more."""
    return Item(
        lambda width: [strip(line) for line in wrap([Segment(text, style)], width - EDGE)], height=None
    )


def fact(
    label: str, text: str, palette: Palette, *, key: str | None = None, style: Style | None = None
) -> Item:
    """A label, and what belongs to it on as many lines as it needs."""

    def draw(width: int) -> list[Strip]:
        lines = wrap([Segment(text, style or palette.text)], max(8, width - LABEL - EDGE))
        first = Segment(f"{shortened(label, LABEL - 1):<{LABEL}}", palette.dim)
        return [strip(line, [first if n == 0 else Segment(" " * LABEL)]) for n, line in enumerate(lines)]

    return Item(draw, key, height=None)

"""Pieces that panes are drawn with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.panes.listing import Item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

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
        lambda width: [make_strip(line) for line in wrap([Segment(text, style)], width - EDGE)], height=None
    )


def fact(
    label: str,
    text: str,
    palette: Palette,
    *,
    key: str | None = None,
    style: Style | None = None,
    column: int = LABEL,
) -> Item:
    """A label, and what belongs to it on as many lines as it needs."""

    def draw(width: int) -> list[Strip]:
        cells = min(column, width // 2)
        lines = wrap([Segment(text, style or palette.text)], max(8, width - cells - EDGE))
        first = Segment(set_cell_size(shorten(label, cells - 1), cells), palette.dim)
        return [make_strip(line, [first if n == 0 else Segment(" " * cells)]) for n, line in enumerate(lines)]

    return Item(draw, key, height=None)


def column_for(labels: Iterable[str]) -> int:
    """Cells of a column that holds names which others have given, so that none is cut without need."""
    return max([LABEL, *(cell_len(label) + 2 for label in labels)])

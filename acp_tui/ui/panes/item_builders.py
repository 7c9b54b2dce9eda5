"""Functions that build the items of panes: headings, text, and text with a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.panes.pane_list import PaneItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

MIN_LABEL_CELLS = 12
"""Minimum width of the label column."""
RIGHT_MARGIN = 1
"""The number of cells kept free at the right edge."""


def justified_line(left: Spans, right: Spans, width: int) -> Strip:
    """Return a line with a left and a right part. The caller makes sure that the left part fits."""
    used = sum(span.cell_length for span in (*left, *right))
    gap = Segment(" " * max(0, width - RIGHT_MARGIN - used))
    return Strip([*left, gap, *right]).crop(0, width)


def heading_item(title: str, palette: Palette, note: str = "", *, first: bool = False) -> PaneItem:
    """Return a heading: a title, with `note` at the right edge."""

    def draw(width: int) -> list[Strip]:
        line = justified_line([Segment(title, palette.strong)], [Segment(note, palette.dim)], width)
        return [line] if first else [Strip([]), line]

    return PaneItem(draw, height=1 if first else 2)


def text_item(text: str, style: Style) -> PaneItem:
    """Return an item with wrapped text."""
    return PaneItem(
        lambda width: [make_strip(line) for line in wrap([Segment(text, style)], width - RIGHT_MARGIN)],
        height=None,
    )


def fact_item(
    label: str,
    text: str,
    palette: Palette,
    *,
    key: str | None = None,
    style: Style | None = None,
    column: int = MIN_LABEL_CELLS,
) -> PaneItem:
    """Return an item with a label and, in a second column, wrapped text."""

    def draw(width: int) -> list[Strip]:
        cells = min(column, width // 2)
        lines = wrap([Segment(text, style or palette.text)], max(8, width - cells - RIGHT_MARGIN))
        first = Segment(set_cell_size(shorten(label, cells - 1), cells), palette.dim)
        return [make_strip(line, [first if n == 0 else Segment(" " * cells)]) for n, line in enumerate(lines)]

    return PaneItem(draw, key, height=None)


def label_column_width(labels: Iterable[str]) -> int:
    """Return the width, in cells, of a column in which all these labels fit."""
    return max([MIN_LABEL_CELLS, *(cell_len(label) + 2 for label in labels)])

"""Layout of a screen with panes: beside the transcript, over it, or (zoomed) over the whole screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region
from textual.layout import WidgetPlacement
from textual.layouts.vertical import VerticalLayout

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.layout import ArrangeResult
    from textual.widget import Widget

MIN_SIDE_COLUMNS = 100
"""The minimum screen width, in columns, for panes beside the transcript."""
MIN_PANE_COLUMNS, MAX_PANE_COLUMNS = 40, 64
"""Limits of the width of panes beside the transcript."""


def fits_beside(columns: int) -> bool:
    """Return True if panes fit beside the transcript on a screen that is `columns` wide."""
    return columns >= MIN_SIDE_COLUMNS


def pane_columns(columns: int) -> int:
    """Return the width of the panes: the whole screen width if they do not fit beside the transcript."""
    return max(MIN_PANE_COLUMNS, min(MAX_PANE_COLUMNS, columns * 2 // 5)) if fits_beside(columns) else columns


class SidePanesLayout(VerticalLayout):
    """A vertical layout with panes over the transcript, or in a part of the transcript's region."""

    def __init__(self, transcript: Widget, panes: Widget) -> None:
        super().__init__()
        self.zoomed = False
        self._transcript = transcript
        self._panes = panes

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Arrange all widgets in one pass, so that none moves twice."""
        others = [child for child in children if child is not self._panes]
        placements = super().arrange(parent, others, size, greedy)
        index = next((n for n, placed in enumerate(placements) if placed.widget is self._transcript), None)
        if index is None or len(others) == len(children):
            return placements
        full = placements[index].region
        width = pane_columns(size.width)
        if fits_beside(size.width):
            narrow = Region(full.x, full.y, full.width - width, full.height)
            placements[index] = placements[index]._replace(region=narrow)
        region = Region(full.right - width, full.y, width, full.height)
        if self.zoomed:
            last_row = max(
                (placed.region.y for placed in placements if placed.region.height), default=size.height
            )
            region = Region(0, full.y, size.width, max(full.height, last_row - full.y))
        placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, self._panes, 1))
        return placements

"""Where the panes are: beside the transcript, over it, or over all but the outermost lines."""

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
"""Columns from which on there is room beside the transcript."""
MIN_PANE_COLUMNS, MAX_PANE_COLUMNS = 40, 64
"""Columns of the panes."""


def is_beside(columns: int) -> bool:
    """Is there room beside the transcript?"""
    return columns >= MIN_SIDE_COLUMNS


def pane_columns(columns: int) -> int:
    """How wide the panes are on a screen of so many columns: what is cut in two cannot be read."""
    return max(MIN_PANE_COLUMNS, min(MAX_PANE_COLUMNS, columns * 2 // 5)) if is_beside(columns) else columns


class SidePanesLayout(VerticalLayout):
    """Everything from top to bottom as before; only the transcript makes room for the panes."""

    def __init__(self, transcript: Widget, panes: Widget) -> None:
        super().__init__()
        self.zoomed = False
        self._transcript = transcript
        self._panes = panes

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """One pass for all of it, so that nothing moves twice."""
        others = [child for child in children if child is not self._panes]
        placements = super().arrange(parent, others, size, greedy)
        at = next((n for n, placed in enumerate(placements) if placed.widget is self._transcript), None)
        if at is None or len(others) == len(children):
            return placements
        page = placements[at].region
        width = pane_columns(size.width)
        if is_beside(size.width):
            narrow = Region(page.x, page.y, page.width - width, page.height)
            placements[at] = placements[at]._replace(region=narrow)
        region = Region(page.right - width, page.y, width, page.height)
        if self.zoomed:
            last = max(
                (placed.region.y for placed in placements if placed.region.height), default=size.height
            )
            region = Region(0, page.y, size.width, max(page.height, last - page.y))
        placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, self._panes, 1))
        return placements

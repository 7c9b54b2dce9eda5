"""Draws the rows of a list with a selection, and scrolls to the selected row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.theme.component_style import NOT_DIM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style

SELECTED_SIGN = "❯"
"""Marks the selected row, also on terminals without colours."""


def draw_row(spans: Iterable[Segment], width: int, base: Style, selected: Style | None = None) -> Strip:
    """Draw a row in exactly `width` cells. Pass the style `selected` only for a selected row."""
    strip = Strip(spans).crop_extend(0, width, None)
    if selected is None:
        return strip.apply_style(base)
    # Colours of the text are replaced, because they may not suit the background of the selection.
    style = selected + NOT_DIM
    return Strip([Segment(text, own + style if own else style) for text, own, _ in strip], strip.cell_length)


def first_visible_row(first: int, selected: int, visible: int, count: int) -> int:
    """Return the first row to show so that the selected one is visible.

    Scrolls as little as possible from `first`. `visible` rows fit; `count` is the number of all rows.
    """
    return max(selected - visible + 1, min(first, selected, count - visible))

"""Rows of lists with a selection."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style

from acp_tui.ui.widgets.select_list import draw_row, first_visible_row

BASE, SELECTED = Style(color="white"), Style(color="black", bgcolor="yellow")


@pytest.mark.parametrize("text", ["short", "a text that is too long", "漢字漢字漢字"])
def test_a_row_has_exactly_the_width(text: str) -> None:
    assert draw_row([Segment(text)], 10, BASE).cell_length == 10


def test_the_style_of_the_selection_replaces_colours_and_dimming() -> None:
    strip = draw_row([Segment("text", Style(color="red", dim=True))], 4, BASE, SELECTED)
    style = next(iter(strip)).style
    assert style is not None
    assert (style.color, style.bgcolor, style.dim) == (SELECTED.color, SELECTED.bgcolor, False)


@pytest.mark.parametrize(
    ("first", "selected", "expected"),
    [(0, 2, 0), (0, 5, 3), (4, 2, 2), (9, 9, 7)],
)
def test_lists_scroll_as_little_as_possible(first: int, selected: int, expected: int) -> None:
    assert first_visible_row(first, selected, visible=3, count=10) == expected

"""Bars and key hints at various widths."""

from __future__ import annotations

import pytest
from rich.segment import Segment

from acp_tui.ui.widgets.bar import Bar, KeyHints
from tests.support.looks import Show

HINTS = [("↑↓ Enter", "choose"), ("Esc", "close"), ("PgUp PgDn", "scroll")]


@pytest.mark.parametrize(
    ("width", "drawn"),
    [(50, "a long title of a dialog"), (22, "a long title o…"), (9, "a…"), (7, " 1 of 2"), (4, " 1 o")],
)
async def test_the_left_part_is_shortened_with_an_ellipsis(width: int, drawn: str) -> None:
    bar = Bar([Segment("a long title "), Segment("of a dialog")], [Segment(" 1 of 2")])
    async with Show("dark", widgets=lambda: [bar]).run_test(size=(width, 3)):
        line = bar.render_line(0)
        assert line.cell_length == width
        assert line.text.startswith(drawn)


@pytest.mark.parametrize(
    ("width", "drawn"),
    [
        (60, "↑↓ Enter choose  Esc close  PgUp PgDn scroll"),
        (44, "↑↓ Enter choose  Esc close  PgUp PgDn scroll"),
        (43, "↑↓ Enter choose  Esc close"),
        (20, "↑↓ Enter choose"),
        (5, ""),
    ],
)
async def test_key_hints_are_shown_in_full_or_not_at_all(width: int, drawn: str) -> None:
    hints: list[KeyHints] = []

    def widgets():  # type: ignore[no-untyped-def]
        hints.append(KeyHints(HINTS))
        return hints

    async with Show("dark", widgets=widgets).run_test(size=(width, 3)):
        assert hints[0].render_line(0).text.rstrip() == drawn

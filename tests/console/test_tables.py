"""Columns of texts for the terminal."""

from __future__ import annotations

import pytest

from acp_tui.console import aligned, cells


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("\u2764", 1), ("\u2764\ufe0f", 2), ("\u2b50\ufe0f", 2)],
    ids=["letters", "wide", "combined", "symbol", "symbol as emoji", "emoji"],
)
def test_a_text_has_the_width_that_terminals_give_it(text: str, width: int) -> None:
    assert cells(text) == width


def test_columns_stay_aligned_after_an_emoji() -> None:
    first, second = aligned([["\u2764\ufe0f", "x"], ["ab", "x"]])
    assert first == "\u2764\ufe0f  x"
    assert second == "ab  x"

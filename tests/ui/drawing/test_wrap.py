"""Shortening texts to a width in cells."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from acp_tui.ui.drawing.wrap import shorten, shorten_path


@pytest.mark.parametrize("text", ["\u2764\ufe0f" * 4, "a\u2764\ufe0fb\u2764\ufe0fc", "漢字漢字", "plain"])
@pytest.mark.parametrize("width", range(1, 9))
def test_a_shortened_text_fits_even_if_a_character_widens_the_one_before(text: str, width: int) -> None:
    assert cell_len(shorten(text, width)) <= width
    assert cell_len(shorten_path(text, width)) <= width

"""A `Body` that renders only the visible lines of a text of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.drawing.wrap import hard_wrap, hard_wrap_count, make_strip

if TYPE_CHECKING:
    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.ui.drawing.body import Spans


class LongText:
    """Wraps lines at the width, even inside words. The text must be safe to display."""

    def __init__(self, text: str, style: Style, width: int) -> None:
        self._text = text
        self._style = style
        self._width = width
        self._source = text.split("\n")
        self._last_wrapped: tuple[int, list[Spans]] = (-1, [])  # cached, as one line may fill many screens
        self._heights = Heights()
        self._heights.reset([hard_wrap_count(line, width) for line in self._source])

    @property
    def height(self) -> int:
        """The number of wrapped lines."""
        return self._heights.total

    def line(self, number: int) -> Strip:
        index, part = self._heights.at(number)
        if index != self._last_wrapped[0]:
            segment = Segment(self._source[index], self._style)
            self._last_wrapped = index, hard_wrap([segment], self._width)
        return make_strip(self._last_wrapped[1][part])

    def copy_text(self) -> str:
        """Return the text without wrapping."""
        return self._text

    def update(self) -> bool:
        """Return False: this body cannot be updated, so the caller must make a new body."""
        return False

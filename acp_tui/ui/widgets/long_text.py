"""Text of any length, of which only the lines that are seen are made."""

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
    """A body whose lines are cut where the width ends. The text is safe already."""

    def __init__(self, text: str, style: Style, width: int) -> None:
        self._text = text
        self._style = style
        self._width = width
        self._source = text.split("\n")
        self._folded: tuple[int, list[Spans]] = (-1, [])  # the last one: it may fill many screens
        self._heights = Heights()
        self._heights.reset([hard_wrap_count(line, width) for line in self._source])

    @property
    def height(self) -> int:
        """All of it."""
        return self._heights.total

    def line(self, number: int) -> Strip:
        """Made when it is asked for."""
        index, part = self._heights.at(number)
        if index != self._folded[0]:
            segment = Segment(self._source[index], self._style)
            self._folded = index, hard_wrap([segment], self._width)
        return make_strip(self._folded[1][part])

    def copy_text(self) -> str:
        """As it came."""
        return self._text

    def update(self) -> bool:
        """Another text takes its place."""
        return False

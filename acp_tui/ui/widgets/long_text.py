"""A `Body` that renders only the visible lines of text of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.safe_text import escape_controls
from acp_tui.ui.drawing.body import Heights
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, hard_wrap_count, make_strip
from acp_tui.ui.entries.diff import SyntaxColours
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.ui.theme.palette import Spans


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


GUTTER = 3
"""The number of cells beside the line number: one for a mark before it, and two blanks after it."""


class NumberedText:
    """Text whose lines are wrapped at the width, even inside words. The text can contain any character."""

    def __init__(self, text: str, path: str, width: int, *, marked: int | None = None) -> None:
        """`path` determines the syntax. `marked` is the line to mark, counted from 1."""
        self._text = text
        self._marked = marked
        self._source = [expand_tabs(line) for line in escape_controls(text.removesuffix("\n")).split("\n")]
        lines = dict(enumerate(self._source, 1))
        self._colours = SyntaxColours(lambda: lines, path, current_palette().syntax)
        self._digits = len(str(len(self._source)))
        self._room = max(1, width - self._digits - GUTTER)
        self._last_wrapped: tuple[int, list[Spans]] = (-1, [])  # cached, as one line may fill many screens
        self._heights = Heights()
        self._heights.reset([hard_wrap_count(line, self._room) for line in self._source])

    @property
    def height(self) -> int:
        """The number of wrapped lines."""
        return self._heights.total

    def row_of(self, line: int) -> int:
        """Return the row in which a line begins. A `line` past the end stands for the last line."""
        return self._heights.top(max(0, min(line, len(self._source)) - 1))

    def line(self, number: int) -> Strip:
        """Draw one row: a whole line, or a part of a wrapped line."""
        palette = current_palette()
        index, part = self._heights.at(number)
        if index != self._last_wrapped[0]:
            spans = self._colours.spans(index + 1, self._source[index])
            self._last_wrapped = index, hard_wrap(spans, self._room)
        is_marked = index + 1 == self._marked
        mark = "▸" if is_marked and part == 0 else " "
        label = str(index + 1) if part == 0 else ""
        look = palette.warning if is_marked else palette.faint
        gutter = Segment(f"{mark}{label:>{self._digits}}  ", look)
        return make_strip(self._last_wrapped[1][part], [gutter])

    def copy_text(self) -> str:
        """Return the text without numbers."""
        return self._text

    def update(self) -> bool:
        """Return False: this body cannot be updated, so the caller must make a new one."""
        return False

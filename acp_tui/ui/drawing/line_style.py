"""The base style and colour filters of transcript lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual.color import Color
    from textual.filter import LineFilter


class LineStyle:
    """The background style, width and colour filters that lines are drawn with."""

    def __init__(self, style: Style, width: int, background: Color, filters: Sequence[LineFilter]) -> None:
        self.style = style
        self.width = width
        self._background = background
        self._filters = filters
        self.blank = self.apply_filters(Strip.blank(width, style))

    def matches(self, style: Style, width: int, background: Color, filters: Sequence[LineFilter]) -> bool:
        """Return True if this line style was made from the same values and can be used again."""
        return (self.style, self.width, self._background, self._filters) == (
            style,
            width,
            background,
            filters,
        )

    def extend(self, strip: Strip) -> Strip:
        """Apply the background style to a line, and extend or crop the line to the full width."""
        return strip.apply_style(self.style).crop_extend(0, self.width, self.style)

    def apply_filters(self, strip: Strip) -> Strip:
        """Apply the colour filters, such as the one for NO_COLOR, to a line."""
        for line_filter in self._filters:
            strip = strip.apply_filter(line_filter, self._background)
        return strip


class SearchHighlight:
    """The text searched for, and the current match."""

    def __init__(self) -> None:
        self.needle = ""
        """The text searched for, in lower case; empty if there is no search."""
        self.current: tuple[int, int] | None = None
        """The entry id and line number of the current match; None if there is none."""

    def apply(self, strip: Strip, entry_id: int, line: int) -> Strip:
        """Highlight the matches in a line."""
        palette = current_palette()
        text = _lower(strip.text)
        at = text.find(self.needle)
        style = palette.match_current if self.current == (entry_id, line) else palette.match
        while at >= 0:
            strip = restyle(strip, at, at + len(self.needle), style)
            at = text.find(self.needle, at + len(self.needle))
        return strip


def _lower(text: str) -> str:
    """Return the text in lower case, except characters that would become two, such as `İ`."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def restyle(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Apply a style to the characters from `start` to `end` of a line."""
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        here, at = at, at + len(text)
        first, last = max(0, start - here), min(len(text), end - here)
        if first >= last:
            segments.append(Segment(text, own))
            continue
        marked = own + style if own else style
        pieces = ((text[:first], own), (text[first:last], marked), (text[last:], own))
        segments += [Segment(piece, look) for piece, look in pieces if piece]
    return Strip(segments, strip.cell_length)

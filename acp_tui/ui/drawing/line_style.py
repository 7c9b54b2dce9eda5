"""The base style and colour filters of transcript lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Sequence

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

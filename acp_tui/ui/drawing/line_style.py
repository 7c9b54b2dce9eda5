"""What every line of the transcript is drawn with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual.color import Color
    from textual.filter import LineFilter


class LineStyle:
    """The page below the text, and what the terminal cannot show."""

    def __init__(self, style: Style, width: int, background: Color, filters: Sequence[LineFilter]) -> None:
        self.style = style
        self.width = width
        self._background = background
        self._filters = filters
        self.blank = self.filtered(Strip.blank(width, style))
        """A line with nothing on it."""

    def is_of(self, style: Style, width: int, background: Color, filters: Sequence[LineFilter]) -> bool:
        """Was it made of these?"""
        return (self.style, self.width, self._background, self._filters) == (
            style,
            width,
            background,
            filters,
        )

    def spread(self, strip: Strip) -> Strip:
        """A line over the whole width of the page."""
        return strip.apply_style(self.style).crop_extend(0, self.width, self.style)

    def filtered(self, strip: Strip) -> Strip:
        """A line as the terminal gets it: with fewer colours, or none."""
        for line_filter in self._filters:
            strip = strip.apply_filter(line_filter, self._background)
        return strip

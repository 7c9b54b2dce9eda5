"""What the search has found, laid over the lines that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.ui.theme.palette import Palette


class SearchHighlight:
    """The text searched for, and the hit that is looked at."""

    def __init__(self) -> None:
        self.needle = ""
        """In lower case; nothing is marked when it is empty."""
        self.current: tuple[int, int] | None = None
        """Entry and line of the hit that is looked at."""

    def laid_over(self, strip: Strip, entry_id: int, line: int, palette: Palette) -> Strip:
        """The line with its hits marked."""
        text = strip.text.lower()
        at = text.find(self.needle)
        style = palette.match_current if self.current == (entry_id, line) else palette.match
        while at >= 0:
            strip = restyle(strip, at, at + len(self.needle), style)
            at = text.find(self.needle, at + len(self.needle))
        return strip


def restyle(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """A stretch of a line, counted in characters, with another style laid over its own."""
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

"""What the short bodies have in common: a first line with a sign, and text below it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.body import LinesBody, expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten, wrap
from acp_tui.ui.keys import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.style import Style

    from acp_tui.ui.drawing.body import DrawContext, Spans

    Wrapper = Callable[[Iterable[Segment], int], list[list[Segment]]]

MAX_LINES_FULL = 5_000
"""Lines of one text on a screen of its own: all of them are made at once."""
INDENT = 2
"""Cells before the text of an entry, for its signs."""
MAX_LINES_SHORT = 6
"""Lines of an error or a notice that are shown in the transcript."""
MAX_LINES = 400
"""Lines of one text that are shown in the transcript; all of it is on a screen of its own."""


def hanging_lines(first: Spans, spans: Spans, width: int, indent: int = INDENT) -> list[Strip]:
    """Text that begins after a sign; its other lines are indented as far as its first."""
    lead = [Segment(" " * indent)]
    lines = wrap(spans, width - indent)
    return [make_strip(line, first if number == 0 else lead) for number, line in enumerate(lines)]


def short_hanging_lines(first: Spans, spans: Spans, context: DrawContext) -> list[Strip]:
    """As `headed`, but only the first lines of a text that is long; a key or a click shows all of it."""
    lines = hanging_lines(first, spans, context.width)
    missing = len(lines) - MAX_LINES_SHORT
    if context.whole or missing <= 1:
        return lines
    key = KEYS["transcript.whole"].key_names(context.keymap)
    words = shorten(f"▸ {missing:,} more lines · {key} shows all", context.width - INDENT)
    more = expander(words, context.palette.dim)
    return [*lines[:MAX_LINES_SHORT], Strip([Segment(" " * INDENT), more])]


def wrapped_lines(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Text of several lines, wrapped."""
    return _lines(text, style, width, indent, cut=wrap)


def hard_wrapped_lines(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Text whose columns matter, cut where the width ends."""
    return _lines(text, style, width, indent, cut=hard_wrap)


def limit_lines(lines: Iterable[Strip], context: DrawContext, most: int = MAX_LINES) -> list[Strip]:
    """The first lines, unless all are wanted; that there are more is said."""
    most = MAX_LINES_FULL if context.whole else most
    kept = list(islice(lines, most + 1))
    if len(kept) > most:
        kept[most] = Strip([Segment(" " * INDENT), expander("▸ more", context.palette.dim)])
    return kept


def _lines(text: str, style: Style, width: int, indent: int, cut: Wrapper) -> Iterator[Strip]:
    lead = [Segment(" " * indent)] if indent else []
    for line in text.split("\n"):
        for piece in cut([Segment(line, style)], max(1, width - indent)):
            yield make_strip(piece, lead)


class LazyCopyBody(LinesBody):
    """Lines whose source is made only when it is copied."""

    def __init__(self, lines: list[Strip], make: Callable[[], str]) -> None:
        super().__init__(lines, "")
        self._make = make

    def copy_text(self) -> str:
        """All of it."""
        return self._make()

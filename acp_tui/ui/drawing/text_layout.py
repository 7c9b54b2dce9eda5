"""What the short bodies have in common: a first line with a sign, and text below it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.body import Lines, left_out
from acp_tui.ui.drawing.wrap import fold, shortened, strip, wrap
from acp_tui.ui.keys import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.style import Style

    from acp_tui.ui.drawing.body import Context, Spans

    Cut = Callable[[Iterable[Segment], int], list[list[Segment]]]

MAX_WHOLE = 5_000
"""Lines of one text on a screen of its own: all of them are made at once."""
INDENT = 2
"""Cells before the text of an entry, for its signs."""
MAX_HEADED = 6
"""Lines of an error or a notice that are shown in the transcript."""
MOST_LINES = 400
"""Lines of one text that are shown in the transcript; all of it is on a screen of its own."""


def headed(first: Spans, spans: Spans, width: int, indent: int = INDENT) -> list[Strip]:
    """Text that begins after a sign; its other lines are indented as far as its first."""
    lead = [Segment(" " * indent)]
    lines = wrap(spans, width - indent)
    return [strip(line, first if number == 0 else lead) for number, line in enumerate(lines)]


def short_headed(first: Spans, spans: Spans, context: Context) -> list[Strip]:
    """As `headed`, but only the first lines of a text that is long; a key or a click shows all of it."""
    lines = headed(first, spans, context.width)
    missing = len(lines) - MAX_HEADED
    if context.whole or missing <= 1:
        return lines
    key = KEYS["transcript.whole"].key_names(context.keymap)
    words = shortened(f"▸ {missing:,} more lines · {key} shows all", context.width - INDENT)
    more = left_out(words, context.palette.dim)
    return [*lines[:MAX_HEADED], Strip([Segment(" " * INDENT), more])]


def paragraphs(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Text of several lines, wrapped."""
    return _lines(text, style, width, indent, cut=wrap)


def code_lines(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Text whose columns matter, cut where the width ends."""
    return _lines(text, style, width, indent, cut=fold)


def bounded(lines: Iterable[Strip], context: Context, most: int = MOST_LINES) -> list[Strip]:
    """The first lines, unless all are wanted; that there are more is said."""
    most = MAX_WHOLE if context.whole else most
    kept = list(islice(lines, most + 1))
    if len(kept) > most:
        kept[most] = Strip([Segment(" " * INDENT), left_out("▸ more", context.palette.dim)])
    return kept


def _lines(text: str, style: Style, width: int, indent: int, cut: Cut) -> Iterator[Strip]:
    lead = [Segment(" " * indent)] if indent else []
    for line in text.split("\n"):
        for piece in cut([Segment(line, style)], max(1, width - indent)):
            yield strip(piece, lead)


class Source(Lines):
    """Lines whose source is made only when it is copied."""

    def __init__(self, lines: list[Strip], make: Callable[[], str]) -> None:
        super().__init__(lines, "")
        self._make = make

    def copy_text(self) -> str:
        """All of it."""
        return self._make()

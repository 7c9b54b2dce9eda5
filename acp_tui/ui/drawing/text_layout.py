"""Layout of short texts: hanging indents, wrapping and line limits."""

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

    from acp_tui.ui.drawing.body import DrawContext
    from acp_tui.ui.theme.palette import Spans


if TYPE_CHECKING:
    Wrapper = Callable[[Iterable[Segment], int], list[list[Segment]]]

MAX_LINES_FULL = 5_000
"""The maximum number of lines of text on the screen that shows one entry in full. All are drawn at once."""
INDENT = 2
"""The width, in cells, of the symbol and the space before the text of an entry."""
MAX_LINES_SHORT = 6
"""The maximum number of lines of an error or a notice in the transcript."""
MAX_LINES = 400
"""The maximum number of lines of text in the transcript."""


def hanging_lines(first: Spans, spans: Spans, width: int, indent: int = INDENT) -> list[Strip]:
    """Wrap text with a hanging indent. The first line begins with `first`, such as a symbol."""
    lead = [Segment(" " * indent)]
    lines = wrap(spans, width - indent)
    return [make_strip(line, first if number == 0 else lead) for number, line in enumerate(lines)]


def short_hanging_lines(first: Spans, spans: Spans, context: DrawContext) -> list[Strip]:
    """Wrap text like `hanging_lines`. Unless `context.full` is set, keep only the first few lines.

    If lines are omitted, a marker names the key that shows the full entry.
    """
    lines = hanging_lines(first, spans, context.width)
    missing = len(lines) - MAX_LINES_SHORT
    if context.full or missing <= 1:
        return lines
    key = KEYS["transcript.whole"].key_names(context.keymap)
    words = shorten(f"▸ {missing:,} more lines · {key} shows all", context.width - INDENT)
    more = expander(words, context.palette.dim)
    return [*lines[:MAX_LINES_SHORT], Strip([Segment(" " * INDENT), more])]


def wrapped_lines(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Wrap and indent text that may have several lines."""
    return _lines(text, style, width, indent, cut=wrap)


def hard_wrapped_lines(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Wrap and indent text whose columns matter, such as code. Lines are also broken inside words."""
    return _lines(text, style, width, indent, cut=hard_wrap)


def limit_lines(lines: Iterable[Strip], context: DrawContext, most: int = MAX_LINES) -> list[Strip]:
    """Return the first `most` lines, then a marker if lines are omitted.

    If `context.full` is set, the limit is `MAX_LINES_FULL` instead of `most`.
    """
    most = MAX_LINES_FULL if context.full else most
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
    """A body for a short entry. The text to copy is computed only when the user copies the entry."""

    def __init__(self, lines: list[Strip], make: Callable[[], str]) -> None:
        super().__init__(lines, "")
        self._make = make

    def copy_text(self) -> str:
        """Compute and return the source text."""
        return self._make()

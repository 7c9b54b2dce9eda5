"""What the short bodies have in common: a first line with a sign, and text below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.widgets.transcript.wrap import expanded, fold, strip, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.ui.widgets.transcript.body import Spans

INDENT = 2
"""Cells before the text of an entry, for its signs."""
MOST_LINES = 400
"""Lines of one text that are shown in the transcript; all of it opens on a key."""


def headed(first: Spans, spans: Spans, width: int, indent: int = INDENT) -> list[Strip]:
    """Text that begins after a sign; its other lines are indented as far as its first."""
    lead = [Segment(" " * indent)]
    lines = wrap(spans, width - indent)
    return [strip(line, first if number == 0 else lead) for number, line in enumerate(lines)]


def paragraphs(text: str, style: Style, width: int, indent: int = INDENT) -> list[Strip]:
    """Text of several lines, wrapped."""
    return _lines(text, style, width, indent, code=False)


def code_lines(text: str, style: Style, width: int, indent: int = INDENT) -> list[Strip]:
    """Text whose columns matter, cut where the width ends."""
    return _lines(text, style, width, indent, code=True)


def bounded(lines: Iterable[Strip], note: Style, width: int, most: int = MOST_LINES) -> list[Strip]:
    """The first lines, and a word about the rest."""
    kept = list(lines)
    if len(kept) <= most:
        return kept
    rest = f"⋯ {len(kept) - most} more lines: open the details to see all"
    return [*kept[:most], *headed([Segment(" " * INDENT)], [Segment(rest, note)], width)]


def _lines(text: str, style: Style, width: int, indent: int, *, code: bool) -> list[Strip]:
    lead = [Segment(" " * indent)] if indent else []
    cut = fold if code else wrap
    return [
        strip(piece, lead)
        for line in text.split("\n")
        for piece in cut([Segment(expanded(line), style)], max(1, width - indent))
    ]

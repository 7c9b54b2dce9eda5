"""Layout of short texts and JSON values: hanging indents, wrapping, line limits, highlighting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.session.safe_text import escape_controls
from acp_tui.ui.drawing.body import DrawContext, LinesBody, expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten, wrap
from acp_tui.ui.keys import KEYS

if TYPE_CHECKING:
    from rich.style import Style

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


def wrapped_lines(
    text: str, style: Style, width: int, indent: int = INDENT, *, wrapper: Wrapper = wrap
) -> Iterator[Strip]:
    """Wrap and indent text that may have several lines."""
    lead = [Segment(" " * indent)] if indent else []
    for line in text.split("\n"):
        for piece in wrapper([Segment(line, style)], max(1, width - indent)):
            yield make_strip(piece, lead)


def hard_wrapped_lines(text: str, style: Style, width: int, indent: int = INDENT) -> Iterator[Strip]:
    """Wrap and indent text whose columns matter, such as code. Lines are also broken inside words."""
    return wrapped_lines(text, style, width, indent, wrapper=hard_wrap)


def limit_lines(lines: Iterable[Strip], context: DrawContext, most: int = MAX_LINES) -> list[Strip]:
    """Return the first `most` lines, then a marker if lines are omitted.

    If `context.full` is set, the limit is `MAX_LINES_FULL` instead of `most`.
    """
    most = MAX_LINES_FULL if context.full else most
    kept = list(islice(lines, most + 1))
    if len(kept) > most:
        kept[most] = Strip([Segment(" " * INDENT), expander("▸ more", context.palette.dim)])
    return kept


class LazyCopyBody(LinesBody):
    """A body for a short entry. The text to copy is computed only when the user copies the entry."""

    def __init__(self, lines: list[Strip], make: Callable[[], str]) -> None:
        super().__init__(lines, "")
        self._make = make

    def copy_text(self) -> str:
        """Compute and return the source text."""
        return self._make()


JSON_INDENT = 4
PREVIEW_LINES = 12
"""The maximum number of lines of a JSON value in the transcript."""
MAX_CHARACTERS = 100_000
"""The maximum number of characters of a JSON value on the screen that shows a single entry."""


def json_body(value: Any, context: DrawContext, *, label: str = "") -> LinesBody:
    """Draw a value as JSON: on the label's line if the JSON fits there, otherwise below the label."""
    room = context.width - JSON_INDENT
    text, complete = json_excerpt(value, room - len(label) - 2, indent=None)
    if complete and "\n" not in text and cell_len(text) + len(label) + 2 <= room:
        lead = [Segment(" " * JSON_INDENT), Segment(f"{label}  " if label else "", context.palette.dim)]
        return LinesBody([make_strip(_highlight(text, context)[0], lead)], text)
    text, complete = json_excerpt(value, MAX_CHARACTERS if context.full else PREVIEW_LINES * context.width)
    strips = [make_strip([Segment(f"{' ' * JSON_INDENT}{label}", context.palette.dim)])] if label else []
    return LinesBody([*strips, *json_strips(text, context, complete=complete)], text)


def json_strips(text: str, context: DrawContext, *, complete: bool = True) -> list[Strip]:
    """Highlight and wrap JSON text. Add a marker if lines are omitted, or if `complete` is false."""
    width = context.width - JSON_INDENT
    indent = Segment(" " * JSON_INDENT)
    limit = None if context.full else PREVIEW_LINES
    strips = [
        make_strip(part, [indent]) for line in _highlight(text, context) for part in hard_wrap(line, width)
    ]
    if limit is not None and len(strips) > limit:
        del strips[limit:]
        complete = False
    if not complete:
        strips.append(make_strip([expander("▸ more", context.palette.diff_fold)], [indent]))
    return strips


def json_excerpt(value: Any, characters: int, *, indent: int | None = 2) -> tuple[str, bool]:
    """Return the beginning of a value as JSON, safe to display, and whether nothing was cut off.

    Encoding stops after `characters` characters, but a single string is always encoded as a whole.
    """
    pieces: list[str] = []
    size = 0
    try:
        for piece in json.JSONEncoder(indent=indent, ensure_ascii=False, default=str).iterencode(value):
            pieces.append(piece[: characters - size + 1])
            size += len(piece)
            if size > characters:
                break
    except RecursionError:
        size = characters + 1  # nested too deeply: incomplete
    text = "".join(pieces)
    return (
        (escape_controls(text), True) if size <= characters else (escape_controls(text[:characters]), False)
    )


def _highlight(text: str, context: DrawContext) -> list[list[Segment]]:
    from acp_tui.ui.theme.syntax import highlight  # loads Pygments

    return [
        [Segment(text, style or context.palette.dim) for text, style, _ in line]
        for line in highlight(text, "json", context.palette.syntax)
    ]

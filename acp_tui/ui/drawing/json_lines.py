"""Draws highlighted JSON, such as the input and output of tool calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.session.safe_text import escape_controls
from acp_tui.ui.drawing.body import LinesBody, expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.ui.drawing.body import DrawContext

INDENT = 4
PREVIEW_LINES = 12
"""The maximum number of lines of a JSON value in the transcript."""
MAX_CHARACTERS = 100_000
"""The maximum number of characters of a JSON value on the screen that shows a single entry."""


def json_body(value: Any, context: DrawContext, *, label: str = "") -> LinesBody:
    """Draw a value as JSON: on the label's line if the JSON fits there, otherwise below the label."""
    room = context.width - INDENT
    text, complete = json_excerpt(value, room - len(label) - 2, indent=None)
    if complete and "\n" not in text and cell_len(text) + len(label) + 2 <= room:
        lead = [Segment(" " * INDENT), Segment(f"{label}  " if label else "", context.palette.dim)]
        return LinesBody([make_strip(_highlight(text, context)[0], lead)], text)
    text, complete = json_excerpt(value, MAX_CHARACTERS if context.full else PREVIEW_LINES * context.width)
    strips = [make_strip([Segment(f"{' ' * INDENT}{label}", context.palette.dim)])] if label else []
    return LinesBody([*strips, *json_strips(text, context, complete=complete)], text)


def json_strips(text: str, context: DrawContext, *, complete: bool = True) -> list[Strip]:
    """Highlight and wrap JSON text. Add a marker if lines are omitted, or if `complete` is false."""
    width = context.width - INDENT
    indent = Segment(" " * INDENT)
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

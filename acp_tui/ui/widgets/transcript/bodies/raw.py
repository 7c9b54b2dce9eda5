"""Any JSON value as lines: what a call was given and gave back, and what we do not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.segment import Segment

from acp_tui.session.text import visible
from acp_tui.ui.widgets.transcript.body import Lines
from acp_tui.ui.widgets.transcript.wrap import fold, strip

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.ui.widgets.transcript.body import Context

INDENT = 4
SHORT = 12
"""Lines that are shown where it is only one part of something."""
MOST = 100_000
"""Characters that are ever shown of one value."""


def raw_body(value: Any, context: Context, *, label: str = "") -> Lines:
    """A value, below a label; all of it only where it stands alone."""
    characters = MOST if context.whole else SHORT * context.width
    text, complete = excerpt(value, characters)
    strips = [strip([Segment(f"{' ' * INDENT}{label}", context.palette.dim)])] if label else []
    return Lines([*strips, *json_strips(text, context, complete=complete)], text)


def json_strips(text: str, context: Context, *, complete: bool = True) -> list[Strip]:
    """The text of a JSON value in colours, folded to the width, and cut short when the context wants it."""
    from acp_tui.ui.syntax import highlighted  # loads Pygments

    width = context.width - INDENT
    indent = Segment(" " * INDENT)
    palette = context.palette
    limit = None if context.whole else SHORT
    strips: list[Strip] = []
    for line in highlighted(text, "json", palette):
        for part in fold(
            [Segment(span.text, palette.dim + (span.style or palette.dim)) for span in line], width
        ):
            if limit is not None and len(strips) >= limit:
                complete = False
                break
            strips.append(strip(part, [indent]))
    if not complete:
        strips.append(strip([Segment("… more", palette.diff_fold)], [indent]))
    return strips


def excerpt(value: Any, characters: int) -> tuple[str, bool]:
    """The beginning of a value as indented JSON, safe to display, and whether that is all of it.

    Costs no more than what is shown, however large or deep the value is.
    """
    pieces: list[str] = []
    size = 0
    try:
        for piece in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(value):
            pieces.append(piece[: characters - size + 1])
            size += len(piece)
            if size > characters:
                break
    except RecursionError:
        size = characters + 1  # nested too deeply: what came so far has to do
    text = "".join(pieces)
    return (visible(text), True) if size <= characters else (visible(text[:characters]), False)

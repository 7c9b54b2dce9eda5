"""JSON values as coloured lines: input and output of tool calls, unknown content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.session.text import visible
from acp_tui.ui.drawing.body import LinesBody, expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.ui.drawing.body import DrawContext
    from acp_tui.ui.theme.palette import Palette

INDENT = 4
PREVIEW_LINES = 12
"""Lines shown in the transcript."""
MAX_CHARACTERS = 100_000
"""Characters shown of one value at most."""


def json_body(value: Any, context: DrawContext, *, label: str = "") -> LinesBody:
    """A value with a label: on one line where it fits, else below it; all of it only where wanted."""
    room = context.width - INDENT
    text, complete = json_excerpt(value, room - len(label) - 2, indent=None)
    if complete and "\n" not in text and cell_len(text) + len(label) + 2 <= room:
        lead = [Segment(" " * INDENT), Segment(f"{label}  " if label else "", context.palette.dim)]
        return LinesBody([make_strip(_coloured(text, context.palette)[0], lead)], text)
    text, complete = json_excerpt(value, MAX_CHARACTERS if context.whole else PREVIEW_LINES * context.width)
    strips = [make_strip([Segment(f"{' ' * INDENT}{label}", context.palette.dim)])] if label else []
    return LinesBody([*strips, *json_strips(text, context, complete=complete)], text)


def json_strips(text: str, context: DrawContext, *, complete: bool = True) -> list[Strip]:
    """The text of a JSON value in colours, folded to the width, and cut short when the context wants it."""
    width = context.width - INDENT
    indent = Segment(" " * INDENT)
    limit = None if context.whole else PREVIEW_LINES
    strips = [
        make_strip(part, [indent])
        for line in _coloured(text, context.palette)
        for part in hard_wrap(line, width)
    ]
    if limit is not None and len(strips) > limit:
        del strips[limit:]
        complete = False
    if not complete:
        strips.append(make_strip([expander("▸ more", context.palette.diff_fold)], [indent]))
    return strips


def json_excerpt(value: Any, characters: int, *, indent: int | None = 2) -> tuple[str, bool]:
    """The beginning of a value as JSON, safe to display, and whether that is all of it.

    Costs no more than what is shown, however large or deep the value is.
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
        size = characters + 1  # nested too deeply: what came so far has to do
    text = "".join(pieces)
    return (visible(text), True) if size <= characters else (visible(text[:characters]), False)


def _coloured(text: str, palette: Palette) -> list[list[Segment]]:
    from acp_tui.ui.theme.syntax import highlight  # loads Pygments

    return [
        [Segment(text, style or palette.dim) for text, style, _ in line]
        for line in highlight(text, "json", palette)
    ]

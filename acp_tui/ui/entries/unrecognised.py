"""Draws a protocol message that acp-tui does not recognise: its name, and its JSON if unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_kinds.notices import unrecognised_json, unrecognised_title
from acp_tui.ui.drawing.text_layout import LazyCopyBody, hanging_lines, hard_wrapped_lines, limit_lines

if TYPE_CHECKING:
    from acp_tui.session.state import Unrecognised
    from acp_tui.ui.drawing.body import Body, DrawContext


def body(entry: Unrecognised, context: DrawContext) -> Body:
    """Draw the name of the message, and its JSON unless the entry is folded."""
    palette, width = context.palette, context.width
    spans = [Segment("not recognised: ", palette.dim), Segment(unrecognised_title(entry), palette.text)]
    lines = hanging_lines([Segment("▸ " if context.folded else "▾ ", palette.faint)], spans, width)
    if not context.folded:
        lines += limit_lines(hard_wrapped_lines(unrecognised_json(entry), palette.dim, width), context)
    return LazyCopyBody(lines, lambda: unrecognised_json(entry))

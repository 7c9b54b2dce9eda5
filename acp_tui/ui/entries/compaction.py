"""A compaction of the agent's context: one line, and the summary when unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import compaction_words
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines, limit_lines, wrapped_lines

if TYPE_CHECKING:
    from acp_tui.session.state import Compaction
    from acp_tui.ui.drawing.body import Body, DrawContext


def body(entry: Compaction, context: DrawContext) -> Body:
    """Draw the status, the error if any, and the summary unless folded."""
    palette, width = context.palette, context.width
    summary = str(entry.summary)
    words = compaction_words(entry)
    fold = ("▸ " if context.folded else "▾ ") if summary else "· "
    style = palette.error if entry.status == "failed" else palette.dim
    lines = hanging_lines([Segment(fold, palette.faint)], [Segment(words, style)], width)
    if entry.error:
        lines += wrapped_lines(entry.error, palette.error, width)
    if summary and not context.folded:
        lines += limit_lines(wrapped_lines(summary, palette.thought, width), context)
    return LinesBody(lines, "\n".join(filter(None, (words, entry.error, summary))))

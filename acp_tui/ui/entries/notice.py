"""Draws a notice: its text, and the notice's details if the entry is unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hard_wrapped_lines, limit_lines, short_hanging_lines

if TYPE_CHECKING:
    from acp_tui.session.state import Notice
    from acp_tui.ui.drawing.body import Body, DrawContext

_SIGNS = {"info": "·", "warning": "!", "error": "✘"}
_SOURCES = {"agent": "the agent: "}


def body(entry: Notice, context: DrawContext) -> Body:
    """Draw a notice. It can come from acp-tui, the agent, a rule or a policy."""
    palette, width = context.palette, context.width
    sign = _SIGNS.get(entry.level, "·")
    style = {"warning": palette.warning, "error": palette.error}.get(entry.level, palette.dim)
    spans = [Segment(_SOURCES.get(entry.source, ""), palette.faint)]
    spans.append(Segment(" ".join(entry.text.split("\n")), style))
    text = entry.text
    if entry.detail and context.folded:
        spans.append(Segment(" ▸", palette.faint))
    lines = short_hanging_lines([Segment(f"{sign} ", style)], spans, context)
    if entry.detail:
        text = f"{text}\n{entry.detail}"
        if not context.folded:
            lines += limit_lines(hard_wrapped_lines(entry.detail, palette.dim, width), context)
    return LinesBody(lines, text)

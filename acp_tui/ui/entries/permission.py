"""Draws a permission request: the answer, the tool call, and who or what answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import answered_by, permission_title, permission_verdict
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.session.state import Permission
    from acp_tui.ui.drawing.body import Body, DrawContext, Spans


def body(entry: Permission, context: DrawContext) -> Body:
    """Draw a permission request."""
    sign, _, style_name = permission_verdict(entry)
    style: Style = getattr(context.palette, style_name)
    spans = _spans(entry, context, None if context.full else context.width)
    lines = hanging_lines([Segment(f"{sign} ", style)], spans, context.width)
    return LinesBody(lines, "".join(span.text for span in _spans(entry, context, None)))


def _spans(entry: Permission, context: DrawContext, max_cells: int | None) -> Spans:
    """Return the text of a permission request. `max_cells` limits each part that comes from the agent."""
    _, words, style_name = permission_verdict(entry)
    title, by = _title(entry, context), answered_by(entry, max_cells)
    if max_cells is not None:
        title = shorten(title, max_cells)
    spans = [
        Segment(words, getattr(context.palette, style_name)),
        Segment(f": {title}" if title else "", context.palette.text),
    ]
    return [*spans, Segment(f" — {by}", context.palette.dim)] if by else spans


def _title(entry: Permission, context: DrawContext) -> str:
    title = permission_title(entry, context.session, context.cwd)
    if (subagent := context.session.subagents.get(entry.subagent)) is not None:
        return f"{title} (subagent: {visible_line(subagent.name)})"
    return f"{title} (session {entry.session_id})" if entry.session_id else title

"""A permission request: what was asked, the answer, and who gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_display import answered_by, call_title, permission_verdict
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.session.state import Permission
    from acp_tui.ui.drawing.body import Body, DrawContext, Spans


def body(entry: Permission, context: DrawContext) -> Body:
    """Draw the answer, its subject, and who or which rule gave it."""
    sign, _, good = permission_verdict(entry)
    look: Style = getattr(context.palette, good)
    spans = _spans(entry, context, None if context.whole else context.width)
    lines = hanging_lines([Segment(f"{sign} ", look)], spans, context.width)
    return LinesBody(lines, "".join(span.text for span in _spans(entry, context, None)))


def _spans(entry: Permission, context: DrawContext, most: int | None) -> Spans:
    """The text of the entry. `most` limits the agent's own words, in cells."""
    _, words, good = permission_verdict(entry)
    what, by = _what(entry, context), answered_by(entry, most)
    if most is not None:
        what = shorten(what, most)
    spans = [
        Segment(words, getattr(context.palette, good)),
        Segment(f": {what}" if what else "", context.palette.text),
    ]
    return [*spans, Segment(f" — {by}", context.palette.dim)] if by else spans


def _what(entry: Permission, context: DrawContext) -> str:
    call = context.session.tool_calls.get(entry.call_id)
    return call_title(call, context.cwd) if call is not None else entry.call_id

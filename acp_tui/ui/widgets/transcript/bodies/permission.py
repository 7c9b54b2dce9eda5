"""What the agent asked to be allowed, who answered, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.widgets.transcript.bodies.folding import headed
from acp_tui.ui.widgets.transcript.body import Lines
from acp_tui.wording import answered_by, verdict

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.session.state import Permission
    from acp_tui.ui.widgets.transcript.body import Body, Context


def body(entry: Permission, context: Context) -> Body:
    """One line: the answer, what it was about, and by whom or why."""
    sign, words, good = verdict(entry)
    look: Style = getattr(context.palette, good)
    what = _what(entry, context)
    spans = [Segment(words, look), Segment(f": {what}" if what else "", context.palette.text)]
    by = answered_by(entry)
    if by:
        spans.append(Segment(f" — {by}", context.palette.dim))
    lines = headed([Segment(f"{sign} ", look)], spans, context.width)
    return Lines(lines, "".join(span.text for span in spans))


def _what(entry: Permission, context: Context) -> str:
    call = context.session.tool_calls.get(entry.call_id)
    return " ".join((call.title or call.name or entry.call_id).split()) if call else entry.call_id

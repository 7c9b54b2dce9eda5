"""What the agent asked to be allowed, who answered, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.widgets.transcript.bodies.folding import headed
from acp_tui.ui.widgets.transcript.body import Lines

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.session.state import Permission
    from acp_tui.ui.palette import Palette
    from acp_tui.ui.widgets.transcript.body import Body, Context


def body(entry: Permission, context: Context) -> Body:
    """One line: the answer, what it was about, and by whom or why."""
    sign, verdict, look = _verdict(entry, context.palette)
    what = _what(entry, context)
    spans = [Segment(verdict, look), Segment(f": {what}" if what else "", context.palette.text)]
    by = _by(entry)
    if by:
        spans.append(Segment(f" — {by}", context.palette.dim))
    lines = headed([Segment(f"{sign} ", look)], spans, context.width)
    return Lines(lines, "".join(span.text for span in spans))


def _verdict(entry: Permission, palette: Palette) -> tuple[str, str, Style]:
    if entry.outcome is None and not entry.answerable:
        return "?", "asked, but cannot be answered (the request has no id)", palette.warning
    if entry.outcome is None:
        return "?", "waiting for your answer", palette.warning
    if entry.outcome == "cancelled":
        return "⊘", "not answered", palette.warning
    if entry.outcome == "error" or entry.option is None:
        return "✘", "answered with an error", palette.error
    if entry.option.kind.startswith("allow"):
        return "✔", "allowed", palette.success
    if entry.option.kind.startswith("reject"):
        return "✘", "rejected", palette.warning
    return "·", "answered", palette.text


def _what(entry: Permission, context: Context) -> str:
    call = context.session.tool_calls.get(entry.call_id)
    return " ".join((call.title or call.name or entry.call_id).split()) if call else entry.call_id


def _by(entry: Permission) -> str:
    """Who, with the words of the option where they say more than yes or no."""
    parts: list[str] = []
    if entry.option is not None and (entry.by == "you" or not entry.option.kind.endswith("_once")):
        parts.append(f"“{entry.option.name}”")
    if entry.by == "you":
        parts.append("you")
    elif entry.why:
        parts.append(entry.why)
    elif entry.by:
        parts.append(entry.by)
    return ", ".join(parts)

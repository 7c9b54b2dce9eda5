"""Requests of the agent: permissions and forms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import answered_by, elicitation_asker, permission_title, permission_verdict
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import INDENT, hanging_lines
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten

if TYPE_CHECKING:
    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.session.state import Elicitation, Permission
    from acp_tui.ui.theme.palette import Spans


def permission_body(entry: Permission, context: DrawContext) -> Body:
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
        return f"{title} (subagent: {escape_line(subagent.name)})"
    return f"{title} (session {entry.session_id})" if entry.session_id else title


MAX_RAW = 4000
"""The maximum number of characters shown of a question of an unknown kind."""
_HOST = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/*(?:[^/?#\\]*@)?(?P<host>[^/?#\\:]*)")
"""Matches the beginning of a URL. The group `host` excludes any text before an @, such as a user name."""


def elicitation_body(entry: Elicitation, context: DrawContext) -> Body:
    """Draw a question: its message, its URL or the titles of its fields, and the outcome."""
    palette, width = context.palette, context.width
    sign, outcome, look = _outcome(entry, context)
    asks = Segment(f"{elicitation_asker(entry, context.session)} asks: ", palette.dim)
    message = " ".join(entry.message.split()) or "(no message)"
    lines = hanging_lines([Segment(f"{sign} ", look)], [asks, Segment(message, palette.text)], width)
    url = escape_line(entry.url) if entry.url else ""
    if url:
        lines += _address(url, context)
    names = _field_titles(entry)
    if names:
        lines += hanging_lines([Segment("  ")], [Segment(f"fields: {names}", palette.dim)], width)
    if entry.raw is not None:
        kind = f"a question of unknown type {escape_line(entry.mode)}, shown as received:"
        lines += hanging_lines([Segment("  ")], [Segment(kind, palette.warning)], width)
        pieces = hard_wrap([Segment(visible_excerpt(entry.raw, MAX_RAW), palette.dim)], width - INDENT)
        lines += [make_strip(piece, [Segment(" " * INDENT)]) for piece in pieces]
    lines += hanging_lines([Segment("  ")], [Segment(outcome, look)], width)
    return LinesBody(lines, "\n".join(filter(None, (entry.message, url))))


def _address(url: str, context: DrawContext) -> list[Strip]:
    """Draw the full URL with its host highlighted. The URL is not clickable: opening it needs consent."""
    palette = context.palette
    match = _HOST.match(url)
    start, end = match.span("host") if match else (0, 0)
    parts = [(url[:start], palette.dim), (url[start:end], palette.strong), (url[end:], palette.dim)]
    pieces = hard_wrap([Segment(text, style) for text, style in parts], context.width - INDENT)
    return [make_strip(piece, [Segment(" " * INDENT)]) for piece in pieces]


def _outcome(entry: Elicitation, context: DrawContext) -> tuple[str, str, Style]:
    palette = context.palette
    if entry.outcome is None:
        return "?", "waiting for your answer", palette.warning
    if entry.outcome == "accept":
        finished = "; completed on the web page" if entry.completed else ""
        return "✔", f"answered{finished}", palette.success
    if entry.outcome == "decline":
        return "✘", "declined", palette.warning
    if entry.outcome == "cancel":
        return "⊘", "dismissed without an answer", palette.warning
    return "✘", "answered with an error", palette.error


def _field_titles(entry: Elicitation) -> str:
    """Return the titles of the form's fields, separated by commas."""
    properties = (entry.schema or {}).get("properties")
    if not isinstance(properties, dict):
        return ""
    titles = [
        str(field["title"]) if isinstance(field, dict) and isinstance(field.get("title"), str) else str(name)
        for name, field in properties.items()
    ]
    return escape_line(", ".join(titles))

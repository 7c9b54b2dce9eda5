"""Draws images, files, links and other content: a line that describes the content, then any text."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.text_format import relative_path
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody, expander, more_lines
from acp_tui.ui.drawing.wrap import shorten, shorten_path
from acp_tui.ui.markdown.block_renderer import code_lines
from acp_tui.ui.markdown.inline import link_style
from acp_tui.ui.theme.syntax import language_of

if TYPE_CHECKING:
    from acp_tui.session.state import Content
    from acp_tui.ui.theme.palette import Spans

INDENT = "  "
SIGNS = {"image": "▣", "audio": "♪", "resource_link": "↗", "resource": "▤"}
WORDS = {"resource_link": "link", "resource": "file"}
MAX_TEXT_LINES = 5
"""The maximum number of lines shown of text that is embedded in a message, such as a file."""
MAX_RAW_CHARACTERS = 2000
"""The maximum number of characters shown of content of an unknown kind."""


def body(content: Content, context: DrawContext) -> Body:
    """Draw a content block that is not part of a message."""
    return LinesBody(content_lines(content, context, [Segment(INDENT)]), content.text)


def content_lines(content: Content, context: DrawContext, before: Spans) -> list[Strip]:
    """Draw a content block. Each line begins with `before`."""
    if content.for_assistant_only and not context.full:
        return withheld_lines(WORDS.get(content.kind, content.kind), content.text, context, before)
    lines = [_headline(content, context, before)]
    text = content.text
    if not text and content.raw is not None:
        text = visible_excerpt(content.raw, MAX_RAW_CHARACTERS)
    if text and not context.folded:
        lines += _text_lines(text, language_of(escape_line(content.uri or "")), context, before)
    return lines


def withheld_lines(what: str, text: str, context: DrawContext, before: Spans) -> list[Strip]:
    """Draw a line in place of content that, according to its annotations, is only for the agent.

    `what` names the kind of content.
    """
    size = f", {len(text):,} characters" if text else ""
    return [_note(f"▸ {escape_line(what)} for the agent only{size}", context, before)]


def _headline(content: Content, context: DrawContext, before: Spans) -> Strip:
    palette = context.palette
    unknown = content.kind not in SIGNS and content.kind != "text"
    kind = escape_line(content.kind)
    facts = [f'unknown content "{kind}"' if unknown else WORDS.get(kind, kind)]
    facts += [escape_line(content.mime)] if content.mime else []
    size = _size(content)
    facts += [_format_size(size)] if size is not None else []
    tail = "  ".join(facts)
    sign = SIGNS.get(content.kind, "?" if unknown else "▤")
    room = context.width - Segment.get_line_length(before) - len(sign) - 1
    uri = content.uri or ""
    path = relative_path(_path(uri), context.cwd)
    name = escape_line(content.title or content.name or path)
    tail = shorten(tail, room)
    name_room = room - cell_len(tail) - 2
    name = (shorten_path if name == path else shorten)(name, name_room) if name_room > 4 else ""
    spans = [*before, Segment(f"{sign} ", palette.icon)]
    if name:
        style = link_style(palette.link, uri) if uri else palette.text
        spans += [Segment(name, style), Segment("  ", palette.dim)]
    return Strip([*spans, Segment(tail, palette.dim)])


def _text_lines(text: str, language: str, context: DrawContext, before: Spans) -> list[Strip]:
    lines = text.rstrip("\n").split("\n")
    shown = lines if context.full else lines[:MAX_TEXT_LINES]
    width = context.width - Segment.get_line_length(before)
    rows = code_lines("\n".join(shown) + "\n", language, context.palette, width)[bool(language) :]
    missing = len(lines) - len(shown)
    if not context.full and len(rows) > 2 * MAX_TEXT_LINES:  # long lines wrap to many rows
        rows, missing = rows[: 2 * MAX_TEXT_LINES], max(1, missing)
    strips = [Strip([*before, *row]) for row in rows]
    if missing:
        strips.append(_note(more_lines(missing), context, before))
    return strips


def _note(text: str, context: DrawContext, before: Spans) -> Strip:
    room = context.width - Segment.get_line_length(before)
    return Strip([*before, expander(shorten(text, room), context.palette.dim)])


def _path(uri: str) -> str:
    """Return the path in a `file:///` URI, or the whole text of any other URI, safe to display."""
    return (
        escape_line(unquote(uri.removeprefix("file://"))) if uri.startswith("file:///") else escape_line(uri)
    )


def _size(content: Content) -> int | None:
    """Return the size declared by the agent, or else of the data or text, in bytes; None if unknown."""
    if content.size is not None:
        return content.size
    if content.data is not None:
        return len(content.data.rstrip("=")) * 3 // 4
    return len(content.text.encode(errors="replace")) if content.text else None


def _format_size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size / 1000:.3g} kB"
    return f"{size / 1_000_000:.3g} MB"

"""Draws text in the content of a tool call: the output of a command, the text of a file, or Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.text.growing_text import GrowingText
from acp_tui.ui.drawing.body import LinesBody, expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten, wrap
from acp_tui.ui.entries.terminal.terminal import tail_strips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.session.state import Content
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.drawing.text_layout import Wrapper

INDENT = 4
FILE_KINDS = ("read", "search", "fetch")
"""Kinds of calls whose text comes from a file or a web page.

Such a text is drawn as Markdown only if all of it is in a code fence.
"""
FAILURE_MESSAGE = "message"
"""The `kind` to pass to `text_body` for a text that says why a call failed.

Such a text is drawn as prose even if it is fenced.
"""
MAX_LINES = 20
"""The maximum number of lines of a text in the transcript."""
MAX_LINES_FULL = 5_000
"""Like `MAX_LINES`, but for the screen that shows one entry in full. There, all lines are drawn at once."""
MAX_MARKDOWN_LINES_FULL = 400
"""Like `MAX_LINES_FULL`, but for Markdown, which takes longer to draw."""
_FENCED = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?\1\s*", re.DOTALL)

_NUMBERED = re.compile(r"^[-+ ]? *[0-9]+[|\t]", re.MULTILINE)


def text_body(content: Content, kind: str, context: DrawContext) -> Body:
    """Draw one text block of a tool call. `kind` is the kind of the call, or `FAILURE_MESSAGE`."""
    if kind == "execute":
        return _output(content, context)
    if kind == FAILURE_MESSAGE and _FENCED.fullmatch(content.text):
        text = strip_fence(content.text)
        return LinesBody(plain_strips(text, context.palette.text, context, wrapper=wrap), content.text)
    if _is_listing(content.text):
        return LinesBody(plain_strips(content.text, context.palette.text, context), content.text)
    if kind in FILE_KINDS and not _FENCED.fullmatch(content.text):
        return LinesBody(plain_strips(content.text, context.palette.text, context), content.text)
    return LinesBody(markdown_strips(content.text, context), content.text)


def _is_listing(text: str) -> bool:
    """Return True if a text has numbered lines of a file: Markdown would join the lines into a paragraph."""
    return len(_NUMBERED.findall(text, 0, MAX_LINES * 200)) > 1


def markdown_strips(text: str, context: DrawContext, indent_cells: int = INDENT) -> list[Strip]:
    """Draw the first lines of a text as Markdown, and `▸ more` below them if lines are omitted."""
    from acp_tui.ui.markdown.document import Document

    limit = MAX_MARKDOWN_LINES_FULL if context.full else MAX_LINES
    length = limit * context.width
    indent = Segment(" " * indent_cells)
    document = Document(GrowingText(text[:length].strip("\n")), context.palette, context.width, [indent])
    document.settle(0, limit)
    strips = [document.line(number) for number in range(min(document.height, limit))]
    if len(strips) < document.height or length < len(text):
        strips.append(make_strip([expander("▸ more", context.palette.diff_fold)], [indent]))
    return strips


def strip_fence(text: str) -> str:
    """Remove the code fence around the whole text, if any. Many agents put a fence even around prose."""
    match = _FENCED.fullmatch(text)
    return match[2] if match else text


def plain_strips(
    text: str, style: Style, context: DrawContext, *, wrapper: Wrapper = hard_wrap
) -> list[Strip]:
    """Draw the first lines of a text without parsing Markdown. If lines are omitted, say how many."""
    lines = text.strip("\n").split("\n")
    limit = MAX_LINES_FULL if context.full else MAX_LINES
    strips: list[Strip] = []
    for number, line in enumerate(lines):
        strips += _wrapped(line, style, context, wrapper)
        if len(strips) > limit:
            return [*strips[:limit], more_lines(len(lines) - number, context)]
    return strips


def more_lines(lines: int, context: DrawContext) -> Strip:
    """Draw a note that says how many lines are omitted. A click on the note opens the full entry."""
    noun = "line" if lines == 1 else "lines"
    note = shorten(f"▸ {lines:,} more {noun}", context.width - INDENT)
    return make_strip([expander(note, context.palette.diff_fold)], [Segment(" " * INDENT)])


def _wrapped(line: str, style: Style, context: DrawContext, wrapper: Wrapper) -> Iterator[Strip]:
    indent = [Segment(" " * INDENT)]
    for part in wrapper([Segment(line, style)], context.width - INDENT):
        yield make_strip(part, indent)


def _output(content: Content, context: DrawContext) -> LinesBody:
    """Draw the last lines of a command's output, with the colours that the output specifies."""
    from acp_tui.workspace.terminals.terminal_emulator import parse_styled_text

    text = strip_fence(content.coloured if content.coloured is not None else content.text).rstrip()
    lines = parse_styled_text(text)
    return LinesBody(tail_strips(lines, 0, context), content.text)

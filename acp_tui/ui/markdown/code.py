"""Blocks of code: a background to the edge, the language above, colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.text import visible_line
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, shorten
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

MARGIN = 1
_LANGUAGE = re.compile(r"[\w+#.-]+")


def fence_language(info: str) -> str:
    """The language that the line of a fence names."""
    match = _LANGUAGE.search(info)
    return match[0] if match else ""


def code_lines(code: str, info: str, palette: Palette, width: int) -> list[Spans]:
    """A whole block at once."""
    highlighter = Highlighter(fence_language(info), palette)
    lines = language_label(info, palette, width)
    for spans in highlighter.lines(code):
        lines += code_rows(spans, palette, width)
    return lines


def language_label(info: str, palette: Palette, width: int) -> list[Spans]:
    """The line above the code that tells its language, if that is known."""
    info = visible_line(info).strip()
    if not info:
        return []
    text = shorten(info, width - 2 * MARGIN)
    return [on_background([Segment(text, palette.code + palette.code_label)], palette, width)]


def code_rows(spans: Iterable[Segment], palette: Palette, width: int) -> list[Spans]:
    """One line of code, folded where it is too long."""
    column = 0
    styled: Spans = []
    for text, style, _ in spans:
        plain = expand_tabs(text, column)
        column += len(plain)
        styled.append(Segment(plain, palette.code + style if style else palette.code))
    return [on_background(row, palette, width) for row in hard_wrap(styled, width - 2 * MARGIN)]


def on_background(spans: Spans, palette: Palette, width: int) -> Spans:
    """The line with the block's background from edge to edge."""
    room = width - MARGIN - sum(segment.cell_length for segment in spans)
    return [Segment(" " * MARGIN, palette.code), *spans, Segment(" " * room, palette.code)]

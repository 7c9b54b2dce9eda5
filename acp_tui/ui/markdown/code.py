"""Code blocks: the name of the language, then highlighted lines on a separate background."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, shorten
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

MARGIN = 1
_LANGUAGE = re.compile(r"[\w+#.-]+")


def fence_language(info: str) -> str:
    """Return the language named in the info string of a fence; "" if there is none."""
    match = _LANGUAGE.search(info)
    return match[0] if match else ""


def code_lines(code: str, info: str, palette: Palette, width: int) -> list[Spans]:
    """Draw a whole code block: the language label, then the code."""
    highlighter = Highlighter(fence_language(info), palette)
    lines = language_label(info, palette, width)
    for spans in highlighter.lines(code):
        lines += code_rows(spans, palette, width)
    return lines


def language_label(info: str, palette: Palette, width: int) -> list[Spans]:
    """Return a line with the fence's info string, to show above the code; [] if the string is empty."""
    info = visible_line(info).strip()
    if not info:
        return []
    text = shorten(info, width - 2 * MARGIN)
    return [on_background([Segment(text, palette.code + palette.code_label)], palette, width)]


def code_rows(spans: Iterable[Segment], palette: Palette, width: int) -> list[Spans]:
    """Draw one line of code, hard-wrapped."""
    column = 0
    styled: Spans = []
    for text, style, _ in spans:
        plain = expand_tabs(text, column)
        column += len(plain)
        styled.append(Segment(plain, palette.code + style if style else palette.code))
    return [on_background(row, palette, width) for row in hard_wrap(styled, width - 2 * MARGIN)]


def on_background(spans: Spans, palette: Palette, width: int) -> Spans:
    """Pad one row of code to the full width with the background of the block."""
    room = width - MARGIN - sum(segment.cell_length for segment in spans)
    return [Segment(" " * MARGIN, palette.code), *spans, Segment(" " * room, palette.code)]

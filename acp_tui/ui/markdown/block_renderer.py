"""Draws the blocks of a section: headings, paragraphs, lists and quotes, and everything in these blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.safe_text import escape_line
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, shorten, wrap
from acp_tui.ui.markdown.inline import Inline
from acp_tui.ui.markdown.table import Table
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from markdown_it.tree import SyntaxTreeNode
    from rich.style import Style

    from acp_tui.ui.theme.palette import Palette, Spans


MARGIN = 1
_LANGUAGE = re.compile(r"[\w+#.-]+")


def fence_language(info: str) -> str:
    """Return the language named in the info string of a fence; "" if there is none."""
    match = _LANGUAGE.search(info)
    return match[0] if match else ""


def code_lines(code: str, info: str, palette: Palette, width: int) -> list[Spans]:
    """Draw a whole code block: the language label, then the code."""
    highlighter = Highlighter(fence_language(info), palette.syntax)
    lines = language_label(info, palette, width)
    for spans in highlighter.lines(code):
        lines += code_rows(spans, palette, width)
    return lines


def language_label(info: str, palette: Palette, width: int) -> list[Spans]:
    """Return a line with the fence's info string, to show above the code; [] if the string is empty."""
    info = escape_line(info).strip()
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


MIN_WIDTH = 12
"""The minimum width of a block, in cells. Indents and quote bars are omitted if it would be narrower."""
QUOTE_BAR = "▎ "
TASK_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


@dataclass(slots=True, frozen=True)
class Paragraph:
    """The end of the last drawn paragraph, and what is needed to continue the paragraph."""

    last_row: Spans  # without the prefix
    prefix: Spans  # quote bars and indents before each row after the first
    width: int  # cells to the right of the prefix
    style: Style


class BlockRenderer:
    """Draws the blocks of one section."""

    def __init__(self, palette: Palette, number: int | None = None, table_start: Table | None = None) -> None:
        self.last_paragraph: Paragraph | None = None
        """The section's last block if it is a paragraph or heading, otherwise None."""
        self._palette = palette
        self._number = number  # number of the first item, if the list continues from an earlier section
        self._table_start = table_start  # set if the table continues from an earlier section

    def lines(self, nodes: Sequence[SyntaxTreeNode], width: int, style: Style) -> list[Spans]:
        """Draw blocks, separated by blank lines except where a list follows a paragraph directly."""
        lines: list[Spans] = []
        before: SyntaxTreeNode | None = None
        for node in nodes:
            made = self._block(node, width, style)
            if before is not None and made and _apart(before, node):
                lines.append([])
            lines += made
            before = node
        return lines

    def _block(self, node: SyntaxTreeNode, width: int, style: Style) -> list[Spans]:
        palette = self._palette
        self.last_paragraph = None
        match node.type:
            case "heading":
                level = {"h1": palette.heading1, "h2": palette.heading2}.get(node.tag, palette.heading3)
                return self._paragraph(node, width, style + level)
            case "paragraph" | "inline":
                return self._paragraph(node, width, style)
            case "bullet_list" | "ordered_list":
                return self._list(node, width, style)
            case "blockquote":
                bar = [Segment(QUOTE_BAR, palette.quote_bar)]
                return self._inside(
                    bar, bar, width, lambda room: self.lines(node.children, room, palette.quote)
                )
            case "hr":
                return [[Segment("─" * width, palette.rule)]]
            case "fence" | "code_block":
                return code_lines(node.content, node.info, palette, width)
            case "table":
                return Table.of(node, palette, style).lines(width, self._table_start)
            case _:
                return self._paragraph(node, width, style)

    def _paragraph(self, node: SyntaxTreeNode, width: int, style: Style) -> list[Spans]:
        inline = Inline(self._palette, style)
        for child in node.children if node.type != "inline" else [node]:
            inline.add(child.children)
        rows = [row for line in inline.lines for row in wrap(line, width)]
        self.last_paragraph = Paragraph(rows[-1], [], width, style)
        return rows

    def _list(self, node: SyntaxTreeNode, width: int, style: Style) -> list[Spans]:
        ordered = node.type == "ordered_list"
        number = int(node.attrs.get("start", 1)) if ordered else 0
        if ordered and self._number is not None:
            number, self._number = self._number, None
        loose = any(
            child.type == "paragraph" and not child.hidden
            for item in node.children
            for child in item.children
        )
        lines: list[Spans] = []
        for item in node.children:
            if lines and loose:
                lines.append([])
            lines += self._item(item, f"{number}. " if ordered else "• ", width, style)
            number += 1
        return lines

    def _item(self, item: SyntaxTreeNode, sign: str, width: int, style: Style) -> list[Spans]:
        self.last_paragraph = None
        if (task := _task(item)) is not None:
            sign = task if sign == "• " else sign + task
        first = [Segment(sign, self._palette.bullet)]
        others = [Segment(" " * len(sign), style)]
        return self._inside(first, others, width, lambda room: self.lines(item.children, room, style) or [[]])

    def _inside(
        self, first: Spans, others: Spans, width: int, draw: Callable[[int], list[Spans]]
    ) -> list[Spans]:
        """Draw lines with the prefix `first` on the first line and `others` on the following ones.

        If the prefix would leave too little width, draw the lines without a prefix.
        """
        prefix_width = sum(segment.cell_length for segment in first)
        if width - prefix_width < MIN_WIDTH:
            return draw(width)
        lines = draw(width - prefix_width)
        if self.last_paragraph is not None:
            prefix = [*others, *self.last_paragraph.prefix]
            self.last_paragraph = replace(self.last_paragraph, prefix=prefix)
        return [[*(others if number else first), *line] for number, line in enumerate(lines)]


def _task(item: SyntaxTreeNode) -> str | None:
    """Remove `[ ]` or `[x]` from a task list item. Return the check box to draw; None for other items."""
    paragraph = item.children[0] if item.children else None
    if paragraph is None or paragraph.type != "paragraph" or not paragraph.children:
        return None
    inline = paragraph.children[0]
    text = inline.children[0] if inline.children else None
    if text is None or text.type != "text" or text.token is None:
        return None
    box = TASK_BOXES.get(text.content[:4])
    if box is not None:
        text.token.content = text.content[4:]
    return box


def _apart(before: SyntaxTreeNode, node: SyntaxTreeNode) -> bool:
    """Return True if a blank line goes between two blocks. A list can directly follow a paragraph."""
    if node.type.endswith("_list") and before.type == "paragraph" and before.map and node.map:
        return node.map[0] > before.map[1]
    return True

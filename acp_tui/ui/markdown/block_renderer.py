"""Draws the blocks of a section: headings, paragraphs, lists, quotes, tables, and what is in these blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.safe_text import escape_line
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, shorten, wrap
from acp_tui.ui.markdown.inline import Inline
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from rich.style import Style

    from acp_tui.ui.theme.palette import Palette, Spans


if TYPE_CHECKING:
    Cell = list[Spans]
    """The lines of a table cell, before wrapping."""
COLUMN_SEPARATOR = " │ "
MIN_COLUMN_WIDTH = 6
MAX_WORD_WIDTH = 16
"""Words up to this width, in terminal cells, are broken only if the table does not fit otherwise."""
MARGIN = 1
_LANGUAGE = re.compile(r"[\w+#.-]+")
MIN_WIDTH = 12
"""The minimum width of a block, in cells. Indents and quote bars are omitted if it would be narrower."""
QUOTE_BAR = "▎ "
TASK_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


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
        prefix_width = Segment.get_line_length(first)
        if width - prefix_width < MIN_WIDTH:
            return draw(width)
        lines = draw(width - prefix_width)
        if self.last_paragraph is not None:
            prefix = [*others, *self.last_paragraph.prefix]
            self.last_paragraph = replace(self.last_paragraph, prefix=prefix)
        return [[*(others if number else first), *line] for number, line in enumerate(lines)]


@dataclass(slots=True)
class Table:
    """The cells of a table, or of its header and some of its rows."""

    head: list[Cell]
    rows: list[list[Cell]]
    aligns: list[str]
    palette: Palette
    style: Style

    @classmethod
    def of(cls, node: SyntaxTreeNode, palette: Palette, style: Style) -> Table:
        """Read a table from the syntax tree."""
        head_style = style + palette.table_head
        head, *body = node.children
        cells = head.children[0].children
        return cls(
            head=[_cell(cell, palette, head_style) for cell in cells],
            rows=[
                [_cell(cell, palette, style) for cell in row.children]
                for part in body
                for row in part.children
            ],
            aligns=[str(cell.attrs.get("style", "")).removeprefix("text-align:") for cell in cells],
            palette=palette,
            style=style,
        )

    def lines(self, width: int, start: Table | None = None) -> list[Spans]:
        """Draw the table, or a later part of a table.

        For a later part, `start` is the first part: the column widths of `start` are used, and the header row
        is omitted.
        """
        widths, fits = (start or self).columns(width)
        if not widths:
            return self._records(width, continues=start is not None)
        rule = self._rule(widths)
        lines: list[Spans] = []
        if start is None:
            lines += [*self._row(self.head, widths), rule]
        for number, row in enumerate(self.rows):
            if not fits and (number or start is not None):
                lines.append(rule)
            lines += self._row(row, widths)
        return lines

    def columns(self, width: int) -> tuple[list[int], bool]:
        """Return the width of each column, and True if no text needs to wrap.

        The list of widths is empty if the columns do not fit at all.
        """
        columns = list(zip(self.head, *self.rows, strict=True))
        wanted = [
            max(1, *(Segment.get_line_length(line) for cell in column for line in cell)) for column in columns
        ]
        room = width - len(COLUMN_SEPARATOR) * (len(columns) - 1)
        if sum(wanted) <= room:
            return wanted, True
        if room < MIN_COLUMN_WIDTH * len(columns):
            return [], False
        least = [
            min(want, max(MIN_COLUMN_WIDTH, *(_longest_word(cell) for cell in column)))
            for want, column in zip(wanted, columns, strict=True)
        ]
        if sum(least) > room:
            return _share(least, room), False
        return _grow(least, wanted, room), False

    def _row(self, cells: list[Cell], widths: list[int]) -> list[Spans]:
        wrapped = [
            [line for logical in cell for line in wrap(logical, width)]
            for cell, width in zip(cells, widths, strict=True)
        ]
        height = max(len(lines) for lines in wrapped)
        return [
            self._line([lines[y] if y < len(lines) else [] for lines in wrapped], widths)
            for y in range(height)
        ]

    def _line(self, cells: list[Spans], widths: list[int]) -> Spans:
        line: Spans = []
        last = len(cells) - 1
        for number, (cell, width, align) in enumerate(zip(cells, widths, self.aligns, strict=True)):
            room = width - Segment.get_line_length(cell)
            before = room if align == "right" else room // 2 if align == "center" else 0
            line += _blank(before, self.style)
            line += cell
            if number < last:
                line += _blank(room - before, self.style)
                line.append(Segment(COLUMN_SEPARATOR, self.palette.table_border))
        return line

    def _rule(self, widths: list[int]) -> Spans:
        return [Segment("─┼─".join("─" * width for width in widths), self.palette.table_border)]

    def _records(self, width: int, *, continues: bool) -> list[Spans]:
        """Draw each row as lines of "header: cell", or of the cell alone if the header is empty."""
        lines: list[Spans] = []
        colon = Segment(": ", self.palette.table_head)
        for row in self.rows or [[[[]] for _ in self.head]]:
            if lines or continues:
                lines.append([Segment("─" * width, self.palette.table_border)])
            for head, cell in zip(self.head, row, strict=True):
                name = [span for logical in head for span in logical]
                first, *others = cell
                for logical in ([*name, colon, *first] if name else first, *others):
                    lines += wrap(logical, width)
        return lines


def _cell(node: SyntaxTreeNode, palette: Palette, style: Style) -> Cell:
    inline = Inline(palette, style)
    for child in node.children:
        inline.add(child.children)
    return inline.lines


def _blank(cells: int, style: Style) -> Spans:
    return [Segment(" " * cells, style)] if cells > 0 else []


def _longest_word(cell: Cell) -> int:
    words = (word for line in cell for word in "".join(span.text for span in line).split(" "))
    return min(MAX_WORD_WIDTH, max((Segment(word).cell_length for word in words), default=0))


def _share(wanted: list[int], room: int) -> list[int]:
    """Divide `room` among columns: narrow ones get what they want, wide ones get equal shares of the rest."""
    given = [0] * len(wanted)
    for rank, index in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        given[index] = min(wanted[index], room // (len(wanted) - rank))
        room -= given[index]
    return given


def _grow(least: list[int], wanted: list[int], room: int) -> list[int]:
    """Widen the columns from `least` to at most `room` in total.

    Each column is widened in proportion to how far the column is below `wanted`.
    """
    missing = [want - have for want, have in zip(wanted, least, strict=True)]
    spare, total = room - sum(least), sum(missing)
    return [have + spare * more // total for have, more in zip(least, missing, strict=True)]


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
    room = width - MARGIN - Segment.get_line_length(spans)
    return [Segment(" " * MARGIN, palette.code), *spans, Segment(" " * room, palette.code)]


@dataclass(slots=True, frozen=True)
class Paragraph:
    """The end of the last drawn paragraph, and what is needed to continue the paragraph."""

    last_row: Spans  # without the prefix
    prefix: Spans  # quote bars and indents before each row after the first
    width: int  # cells to the right of the prefix
    style: Style


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

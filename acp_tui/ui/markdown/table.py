"""Draws tables with wrapped text or, if the columns still do not fit, as lines of "header: cell"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.drawing.wrap import wrap
from acp_tui.ui.markdown.inline import Inline

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from rich.style import Style

    from acp_tui.ui.theme.palette import Palette, Spans

    Cell = list[Spans]
    """The lines of a table cell, before wrapping."""

COLUMN_SEPARATOR = " │ "
MIN_COLUMN_WIDTH = 6
MAX_WORD_WIDTH = 16
"""Words up to this width, in terminal cells, are broken only if the table does not fit otherwise."""


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
        wanted = [max(1, *(_width(line) for cell in column for line in cell)) for column in columns]
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
            room = width - _width(cell)
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


def _width(spans: Spans) -> int:
    return sum(span.cell_length for span in spans)


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

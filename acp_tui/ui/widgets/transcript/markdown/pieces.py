"""One section at one width: its height before it is drawn, and its lines when they are needed."""

from __future__ import annotations

import copy
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.ui.syntax import Highlighter
from acp_tui.ui.widgets.transcript.markdown.code import MARGIN, code_rows, label, language_in, on_background
from acp_tui.ui.widgets.transcript.wrap import expanded, fold, wrap

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.ui.palette import Palette
    from acp_tui.ui.widgets.transcript.body import Spans
    from acp_tui.ui.widgets.transcript.markdown.parser import References
    from acp_tui.ui.widgets.transcript.markdown.sections import Section
    from acp_tui.ui.widgets.transcript.markdown.table import Table

NARROW = 16
"""Cells that are left for a section, however deep its list is."""


class TextPiece:
    """Anything but code: all lines are made at once. Until then its height is a guess."""

    def __init__(self, section: Section, palette: Palette, width: int) -> None:
        self.section = section
        self.indent = min(section.indent, max(0, width - NARROW))
        self.settled = False
        self._palette = palette
        self._width = width - self.indent
        self._lines: list[Spans] | None = None
        self.height = self._estimate()

    def _estimate(self) -> int:
        section = self.section
        if section.kind == "table":
            return len(section.lines) + (0 if section.first else 2)
        if section.kind == "plain":
            return len(section.lines) + section.size // (self._width * 2)
        return 1 + (section.size - 2) // self._width

    @property
    def made(self) -> bool:
        """Are there lines in memory?"""
        return self._lines is not None

    def make(self, references: References, beginning: Table | None) -> None:
        """Make the lines. `beginning`: of the table that this piece goes on."""
        self._lines = drawn(self.section, self._palette, self._width, references, beginning)
        self.height = len(self._lines)
        self.settled = True

    def drop(self) -> None:
        """Save the memory; the height stays."""
        self._lines = None

    def row(self, number: int) -> Spans:
        """One of the lines, which are made."""
        lines = self._lines or []
        return lines[number] if number < len(lines) else []


class CodePiece:
    """Lines of code: the height is counted, colours come when a line is looked at.

    While more of them come, each takes the colours that follow from the ones before, and keeps them. When
    the code is complete it is coloured as a whole.
    """

    settled = True

    def __init__(
        self,
        section: Section,
        palette: Palette,
        width: int,
        *,
        growing: bool,
        before: CodePiece | None = None,
    ) -> None:
        self.section = section
        self.indent = min(section.indent, max(0, width - NARROW))
        self.growing = growing
        self._palette = palette
        self._width = width - self.indent
        info = section.fence.info if section.fence else ""
        self._label = [] if section.first else label(info, palette, self._width)
        known = before._code[:-1] if before is not None else []
        new = section.lines[len(known) :]
        self._code: list[str] = [*known, *(expanded(line.removesuffix("\n")) for line in new)]
        self._ends = list(accumulate(self._count(line) for line in self._code))
        self.height = max(1, len(self._label) + (self._ends[-1] if self._ends else 0))
        self._highlighter = Highlighter(language_in(info), palette)
        self._coloured: list[Spans] = []
        self._line = -1  # the last that was drawn
        self._rows: list[Spans] = []
        if growing and before is not None and before.growing:
            self._highlighter, self._coloured = before._highlighter, before._coloured

    def row(self, number: int) -> Spans:
        """One line of the screen."""
        if number < len(self._label):
            return self._label[number]
        number -= len(self._label)
        index = bisect_right(self._ends, number)
        if index >= len(self._code):
            return on_background([], self._palette, self._width)
        number -= self._ends[index - 1] if index else 0
        if index != self._line:
            self._line, self._rows = index, code_rows(self._spans(index), self._palette, self._width)
        return self._rows[number]

    def _spans(self, index: int) -> Spans:
        if self.growing and index == len(self._code) - 1:
            self._colour(index)
            return copy.copy(self._highlighter).lines(self._code[index])[0]
        self._colour(len(self._code) - self.growing)
        return self._coloured[index]

    def _colour(self, end: int) -> None:
        start = len(self._coloured)
        if start < end:
            self._coloured += self._highlighter.lines("\n".join(self._code[start:end]) + "\n")

    def _count(self, line: str) -> int:
        """How many lines one becomes."""
        width = self._width - 2 * MARGIN
        if len(line) * 2 <= width:
            return 1
        if line.isascii():
            return max(1, -(-len(line) // width))
        return 1 if cell_len(line) <= width else len(fold([Segment(line)], width))


Piece = TextPiece | CodePiece


def drawn(
    section: Section, palette: Palette, width: int, references: References, beginning: Table | None
) -> list[Spans]:
    """The lines of a section that is no code."""
    if section.kind == "plain":
        return _plain(section.lines, palette.text, width)
    from acp_tui.ui.widgets.transcript.markdown.blocks import Blocks
    from acp_tui.ui.widgets.transcript.markdown.parser import parsed

    nodes = parsed(section.text, references, inline=section.kind == "rest")
    if nodes is None:  # too deep
        return _plain(section.lines, palette.text, width)
    start = nodes[0].map[0] if nodes and nodes[0].map else 0 if nodes else len(section.lines)
    defined = _plain(section.lines[:start], palette.dim, width)  # definitions of links: nothing is hidden
    return defined + Blocks(palette, section.number, beginning).lines(nodes, width, palette.text)


def _plain(lines: list[str], style: Style, width: int) -> list[Spans]:
    return [row for line in lines for row in wrap([Segment(expanded(line), style)], width)]


def table_of(section: Section, palette: Palette) -> Table | None:
    """The table that a section holds."""
    from acp_tui.ui.widgets.transcript.markdown.parser import parsed
    from acp_tui.ui.widgets.transcript.markdown.table import Table

    nodes = parsed(section.text, {})
    return Table.of(nodes[0], palette, palette.text) if nodes and nodes[0].type == "table" else None

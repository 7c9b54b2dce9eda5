"""One section at one width: its height before it is drawn, and its lines when they are needed."""

from __future__ import annotations

import copy
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, wrap
from acp_tui.ui.markdown.code import MARGIN, code_rows, fence_language, language_label, on_background
from acp_tui.ui.theme.palette import NO_STYLE
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.markdown.parser import References
    from acp_tui.ui.markdown.sections import Section
    from acp_tui.ui.markdown.table import Table
    from acp_tui.ui.theme.palette import Palette

MAX_COLOURED_BACKLOG = 30
"""Lines that came unseen in one go while code still comes; they get their colours when it is complete."""
MAX_PROSE_WIDTH = 120
"""Cells of a line of prose at most: the eye loses its way back from the end of a longer one."""
MIN_SECTION_WIDTH = 16
"""Cells that are left for a section, however deep its list is."""


class Frame:
    """What all sections of a document are drawn with."""

    def __init__(self, palette: Palette, width: int, before: Spans) -> None:
        self.palette = palette
        self.before = before  # each line
        self.width = width - sum(span.cell_length for span in before)
        self._full_width = width

    def indent(self, section: Section) -> int:
        """Cells before the lines of a section."""
        return min(section.indent, max(0, self.width - MIN_SECTION_WIDTH))

    def strip(self, spans: Iterable[Segment], indent: int = 0) -> Strip:
        """A line as it comes onto the screen."""
        inside = [Segment(" " * indent, self.palette.text)] if indent else []
        strip = Strip([*self.before, *inside, *spans])
        # A joined emoji that changes its style in the middle counts more than it was measured.
        return strip if strip.cell_length <= self._full_width else strip.crop(0, self._full_width)


class TextPiece:
    """Anything but code: all lines are made at once. Until then its height is a guess."""

    def __init__(self, section: Section, frame: Frame) -> None:
        self.section = section
        self.settled = False
        self._frame = frame
        self._indent = frame.indent(section)
        width = frame.width - self._indent
        self._width = width if section.kind == "table" else min(width, MAX_PROSE_WIDTH)
        self._strips: list[Strip] = []
        self.height = self._estimate()

    def _estimate(self) -> int:
        section = self.section
        if section.kind == "table":
            return len(section.lines) + (0 if section.first else 2)
        if section.kind == "plain":
            return sum(1 + max(0, len(line) - 1) // self._width for line in section.lines)
        return 1 + (section.size - 2) // self._width

    @property
    def made(self) -> bool:
        """Are its lines in memory?"""
        return bool(self._strips) or not self.height

    def make(self, references: References, beginning: Table | None) -> None:
        """Make the lines. `beginning`: of the table that this piece goes on."""
        spans = render_section(self.section, self._frame.palette, self._width, references, beginning)
        self._strips = [self._frame.strip(line, self._indent) for line in spans]
        self.height = len(spans)
        self.settled = True

    def drop(self) -> None:
        """Save the memory; the height stays."""
        self._strips = []

    def strip(self, row: int) -> Strip:
        """One of the lines, when they are made."""
        return self._strips[row] if row < len(self._strips) else self._frame.strip([])


class CodePiece:
    """Lines of code: the height is counted, colours come when a line is looked at.

    While more of them come, each takes the colours that follow from the ones before, and keeps them. When
    the code is complete it is coloured as a whole.
    """

    settled = True
    made = True

    def __init__(
        self, section: Section, frame: Frame, *, growing: bool, before: CodePiece | None = None
    ) -> None:
        self.section = section
        self._frame = frame
        self._growing = growing
        self._indent = frame.indent(section)
        self._width = frame.width - self._indent
        info = section.fence.info if section.fence else ""
        self._label = [] if section.first else language_label(info, frame.palette, self._width)
        self._code: list[str] = []  # by the section's lines
        self._ends: list[int] = []  # … where they end on the screen, below the label
        self._language = fence_language(info)
        self._highlighter = Highlighter(self._language, frame.palette)
        self._coloured: list[Spans] = []
        self._strips: dict[int, list[Strip]] = {}
        if growing and before is not None and before._growing:
            self._go_on(before)
        self._count()
        self.height = max(1, len(self._label) + (self._ends[-1] if self._ends else 0))

    def _go_on(self, before: CodePiece) -> None:
        """Take over what is known of all lines but the last, which has changed."""
        self._code, self._ends = before._code, before._ends
        self._strips.update(before._strips)
        self._highlighter, self._coloured = before._highlighter, before._coloured
        if self._code:
            self._code.pop()
            self._ends.pop()
            self._strips.pop(len(self._code), None)

    def _count(self) -> None:
        """How many lines on the screen each line becomes."""
        new = [expand_tabs(line.removesuffix("\n")) for line in self.section.lines[len(self._code) :]]
        end = self._ends[-1] if self._ends else 0
        self._ends += [*accumulate((self._rows(line) for line in new), initial=end)][1:]
        self._code += new

    def _rows(self, line: str) -> int:
        width = self._width - 2 * MARGIN
        if len(line) * 2 <= width:
            return 1
        if line.isascii():
            return max(1, -(-len(line) // width))
        return 1 if cell_len(line) <= width else len(hard_wrap([Segment(line)], width))

    def make(self, references: References, beginning: Table | None) -> None:
        """Nothing: lines are made one by one."""

    def finish(self) -> None:
        """No more comes: it is coloured as a whole when it is looked at."""
        self._growing = False
        self.drop()

    def drop(self) -> None:
        """Save the memory."""
        self._strips.clear()
        if not self._growing:
            self._coloured = []
            self._highlighter = Highlighter(self._language, self._frame.palette)

    def strip(self, row: int) -> Strip:
        """One line of the screen."""
        if row < len(self._label):
            return self._frame.strip(self._label[row], self._indent)
        row -= len(self._label)
        index = bisect_right(self._ends, row)
        if index >= len(self._code):
            return self._frame.strip(on_background([], self._frame.palette, self._width), self._indent)
        if index not in self._strips:
            rows = code_rows(self._spans(index), self._frame.palette, self._width)
            self._strips[index] = [self._frame.strip(spans, self._indent) for spans in rows]
        return self._strips[index][row - (self._ends[index - 1] if index else 0)]

    def _spans(self, index: int) -> Spans:
        if self._growing and index == len(self._code) - 1:
            self._colour(index)
            return copy.copy(self._highlighter).lines(self._code[index])[0]
        if self._growing and index - len(self._coloured) > MAX_COLOURED_BACKLOG:
            plain = self._code[len(self._coloured) : index]
            self._coloured += [[Segment(line, NO_STYLE)] for line in plain]
        self._colour(len(self._code) - self._growing)
        return self._coloured[index]

    def _colour(self, end: int) -> None:
        start = len(self._coloured)
        if start < end:
            self._coloured += self._highlighter.lines("\n".join(self._code[start:end]) + "\n")


Piece = TextPiece | CodePiece


def render_section(
    section: Section, palette: Palette, width: int, references: References, beginning: Table | None
) -> list[Spans]:
    """The lines of a section that is no code."""
    if section.kind == "plain":
        return _plain(section.lines, palette.text, width)
    from acp_tui.ui.markdown.block_renderer import BlockRenderer
    from acp_tui.ui.markdown.parser import parse

    nodes = parse(section.text, references, inline=section.kind == "rest")
    if nodes is None:  # too deep
        return _plain(section.lines, palette.text, width)
    start = nodes[0].map[0] if nodes and nodes[0].map else 0 if nodes else len(section.lines)
    defined = _plain(section.lines[:start], palette.dim, width)  # definitions of links: nothing is hidden
    return defined + BlockRenderer(palette, section.number, beginning).lines(nodes, width, palette.text)


def _plain(lines: list[str], style: Style, width: int) -> list[Spans]:
    return [row for line in lines for row in wrap([Segment(line, style)], width)]


def parse_table(section: Section, palette: Palette) -> Table | None:
    """The table that a section holds."""
    from acp_tui.ui.markdown.parser import parse
    from acp_tui.ui.markdown.table import Table

    nodes = parse(section.text, {})
    return Table.of(nodes[0], palette, palette.text) if nodes and nodes[0].type == "table" else None

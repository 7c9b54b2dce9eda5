"""Lays out a section for one width. The section's height is known or estimated before drawing."""

from __future__ import annotations

import copy
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, wrap
from acp_tui.ui.markdown.block_renderer import (
    MARGIN,
    QUOTE_BAR,
    BlockRenderer,
    code_rows,
    fence_language,
    language_label,
    on_background,
)
from acp_tui.ui.markdown.inline import Inline, parse
from acp_tui.ui.markdown.table import Table
from acp_tui.ui.theme.palette import NO_STYLE
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.tree import SyntaxTreeNode
    from rich.style import Style

    from acp_tui.ui.markdown.inline import References
    from acp_tui.ui.markdown.section import Section
    from acp_tui.ui.theme.palette import Palette, Spans


MAX_OPEN_LINE_LENGTH = 1000
"""An open line (see `OpenLine`) with more characters than this counts as complete."""


@dataclass(slots=True, frozen=True)
class OpenLine:
    """The incomplete last line of a section; empty if the last line is complete.

    The next section of the same paragraph continues the line.
    """

    spans: Spans  # without the prefix
    prefix: Spans  # the quote bars, indents and list marks before the line
    next_prefix: Spans  # … and before the lines after it
    width: int  # cells to the right of the prefix
    style: Style  # of the paragraph

    def extend(self, lines: list[Spans], separator: str | None) -> tuple[list[Spans], OpenLine | None]:
        """Append the `lines` of the next section to this line, and wrap the result.

        Return two values: the rows, and the new open line (None if the paragraph ends in the next section).
        """
        first, *others = lines or [[]]
        rows = [row for line in (_join(self.spans, first), *others) for row in wrap(line, self.width)]
        prefixes = [self.prefix, *[self.next_prefix] * (len(rows) - 1)]
        drawn = [[*prefix, *row] for prefix, row in zip(prefixes, rows, strict=True)]
        if separator is None:
            return drawn, None
        return replace(self, spans=rows[-1], prefix=prefixes[-1]).leave_to_next(drawn, separator)

    def leave_to_next(self, lines: list[Spans], separator: str) -> tuple[list[Spans], OpenLine]:
        """Leave this line to the next section: unless the line is complete, remove the line from `lines`.

        Return the remaining lines, and the line that the next section continues.
        """
        if separator == "\n" or sum(len(span.text) for span in self.spans) > MAX_OPEN_LINE_LENGTH:
            return lines, replace(self, spans=[], prefix=self.next_prefix)
        space = [Segment(separator, self.style)] if separator else []
        return lines[:-1], replace(self, spans=_join(self.spans, space))


def draw_section(
    section: Section,
    palette: Palette,
    width: int,
    references: References,
    *,
    table_start: Table | None = None,
    open_line: OpenLine | None = None,
) -> tuple[list[Spans], OpenLine | None]:
    """Draw a section that is not code. Return its lines, and the open line that the next section continues.

    `open_line` is the line that this section continues. If this section continues a table, `table_start` is
    the first part of the table.
    """
    nodes = _parse(section, references)
    if nodes is None:  # plain, or nested too deeply
        start = open_line or OpenLine([], [], [], width, palette.text)
        return start.extend([[Segment(line, palette.text)] for line in section.lines], section.separator)
    if open_line is not None:
        inline = Inline(palette, open_line.style)
        for node in nodes:
            inline.add(node.children)
        return open_line.extend(inline.lines, section.separator)
    first = nodes[0].map[0] if nodes and nodes[0].map else 0 if nodes else len(section.lines)
    lines = [row for line in section.lines[:first] for row in wrap([Segment(line, palette.dim)], width)]
    renderer = BlockRenderer(palette, section.number, table_start)
    lines += renderer.lines(nodes, width, palette.text)
    paragraph = renderer.last_paragraph
    if section.separator is None or paragraph is None:
        return lines, None
    prefix = lines[-1][: len(lines[-1]) - len(paragraph.last_row)]
    last = OpenLine(paragraph.last_row, prefix, paragraph.prefix, paragraph.width, paragraph.style)
    return last.leave_to_next(lines, section.separator)


def _parse(section: Section, references: References) -> list[SyntaxTreeNode] | None:
    match section.kind:
        case "plain":
            return None
        case "rest":
            return parse(section.text.rstrip(" "), references, inline=True)
        case _:
            return parse(section.text, references)


def parse_table(section: Section, palette: Palette) -> Table | None:
    """Return the table that a section contains; None if the parser finds no table."""
    nodes = parse(section.text, {})
    return Table.of(nodes[0], palette, palette.text) if nodes and nodes[0].type == "table" else None


def _join(before: Spans, after: Spans) -> Spans:
    """Join two parts of a line."""
    if before and after and before[-1].style == after[0].style:
        text = before[-1].text + after[0].text
        return [*before[:-1], Segment(text, before[-1].style), *after[1:]]
    return [*before, *after]


MAX_UNDRAWN_LINES = 30
"""If more lines of growing code wait for colours, the lines stay plain until the code is complete."""
MAX_HIGHLIGHTED_CHARACTERS = 100_000
"""Code in a block after this many characters stays plain: a lexer reads 200,000 characters in a second."""
MAX_PROSE_WIDTH = 120
"""The maximum width of a line of prose, in cells. Longer lines are hard to read."""
MIN_SECTION_WIDTH = 16
"""The minimum width of a section, in cells. To keep this width, deeply nested lists are indented less."""


class LayoutSettings:
    """What the sections of a document have in common: colours, width and the prefix of each line."""

    def __init__(self, palette: Palette, width: int, prefix: Spans) -> None:
        self.palette = palette
        self.prefix = prefix
        self.width = width - sum(span.cell_length for span in prefix)
        self._full_width = width
        self.blank = self.strip([])

    def indent(self, section: Section) -> int:
        """Return the width of the indent of a section, in cells."""
        return min(section.indent, max(0, self.width - MIN_SECTION_WIDTH))

    def blank_above(self, section: Section) -> Strip:
        """Return the blank line above a section. Inside a quote, the line has a bar."""
        if section.continues != "quote":
            return self.blank
        return self.strip([Segment(QUOTE_BAR, self.palette.quote_bar)], self.indent(section))

    def strip(self, spans: Iterable[Segment], indent: int = 0) -> Strip:
        """Return a line with the prefix and the indent, cut to the full width."""
        inside = [Segment(" " * indent, self.palette.text)] if indent else []
        strip = Strip([*self.prefix, *inside, *spans])
        # An emoji sequence that changes its style in the middle is wider than it was measured.
        return strip if strip.cell_length <= self._full_width else strip.crop(0, self._full_width)


class TextLayout:
    """Lays out a section that is not code. The section is drawn as a whole.

    The height is estimated until the section is drawn.
    """

    def __init__(self, section: Section, settings: LayoutSettings) -> None:
        self.section = section
        self.is_exact = False
        self.open_line: OpenLine | None = None  # the line that the section continued when last drawn
        self.next_line: OpenLine | None = None  # the line that the next section continues
        self._settings = settings
        self._indent = settings.indent(section)
        width = settings.width - self._indent
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
    def in_memory(self) -> bool:
        """True if the drawn lines are in memory, or if the section has no lines."""
        return bool(self._strips) or not self.height

    def draw(self, references: References, table_start: Table | None, open_line: OpenLine | None) -> None:
        """Draw the lines. `open_line` is the line that this section continues.

        `table_start` is the first part of the table that this section continues.
        """
        spans, self.next_line = self._spans(references, table_start, open_line)
        self._strips = [self._settings.strip(line, self._indent) for line in spans]
        self.height = len(spans)
        self.open_line = open_line
        self.is_exact = True

    def last_line(self, references: References, open_line: OpenLine | None) -> OpenLine | None:
        """Return the line that the next section continues, without keeping the other lines in memory."""
        return self._spans(references, None, open_line)[1]

    def drop(self) -> None:
        """Free the memory of the lines. The height stays."""
        self._strips = []

    def strip(self, row: int) -> Strip:
        """Return one of the drawn lines. The lines must be in memory."""
        return self._strips[row] if row < len(self._strips) else self._settings.blank

    def _spans(
        self, references: References, table_start: Table | None, open_line: OpenLine | None
    ) -> tuple[list[Spans], OpenLine | None]:
        palette = self._settings.palette
        return draw_section(
            self.section, palette, self._width, references, table_start=table_start, open_line=open_line
        )


class CodeLayout:
    """Lays out a section of code. The section's height is known at once. A line is highlighted when drawn.

    While the code grows, new lines are highlighted as a continuation of the earlier lines. The earlier lines
    keep their colours. If more than `MAX_UNDRAWN_LINES` lines wait for colours, they stay plain. The complete
    code is highlighted as a whole.
    """

    is_exact = True
    in_memory = True

    def __init__(
        self,
        section: Section,
        settings: LayoutSettings,
        *,
        growing: bool,
        before: CodeLayout | None = None,
        start: int = 0,
    ) -> None:
        """`before` is the previous layout of the section, `start` its offset in the block, in characters."""
        self.section = section
        self.end = start + section.size
        self._settings = settings
        self._growing = growing
        self._indent = settings.indent(section)
        self._width = settings.width - self._indent
        info = section.fence.info if section.fence else ""
        self._label = [] if section.first else language_label(info, settings.palette, self._width)
        self._code: list[str] = []  # the code of each line of the section
        self._ends: list[int] = []  # the number of the row after each line; rows of the label do not count
        self._carry = ""  # the last, incomplete row of a part of a long line; drawn with the next part
        self._language = fence_language(info) if start < MAX_HIGHLIGHTED_CHARACTERS else ""
        self._highlighter = Highlighter(self._language, settings.palette.syntax)
        self._highlighted: list[Spans] = []
        self._strips: dict[int, list[Strip]] = {}
        if growing and before is not None and before._growing:
            self._continue(before)
        self._count_rows()
        self.height = max(1, len(self._label) + (self._ends[-1] if self._ends else 0))

    def _continue(self, before: CodeLayout) -> None:
        """Reuse the drawn lines of the previous layout except the last line, which can have changed."""
        self._code, self._ends, self._carry = before._code, before._ends, before._carry
        self._strips.update(before._strips)
        self._highlighter, self._highlighted = before._highlighter, before._highlighted
        if self._code:
            self._code.pop()
            self._ends.pop()
            self._strips.pop(len(self._code), None)

    def _count_rows(self) -> None:
        width = self._width - 2 * MARGIN
        last = len(self.section.lines) - 1
        end = self._ends[-1] if self._ends else 0
        for index in range(len(self._code), last + 1):
            written = self.section.lines[index]
            line = self._carry + expand_tabs(written.removesuffix("\n"))
            if index < last:
                self._carry = "" if written.endswith("\n") else _last_row(line, width)
                line = line[: len(line) - len(self._carry)]
            end += _row_count(line, width)
            self._code.append(line)
            self._ends.append(end)

    def finish(self) -> None:
        """Mark the code as complete: when it is drawn next, it is highlighted as a whole."""
        self._growing = False
        self.drop()

    def drop(self) -> None:
        """Free the memory of the lines."""
        self._strips.clear()
        if not self._growing:
            self._highlighted = []
            self._highlighter = Highlighter(self._language, self._settings.palette.syntax)

    def strip(self, row: int) -> Strip:
        """Return one row. If the row is not in memory, first highlight and wrap the line that contains it."""
        if row < len(self._label):
            return self._settings.strip(self._label[row], self._indent)
        row -= len(self._label)
        index = bisect_right(self._ends, row)
        if index >= len(self._code):
            return self._settings.strip(on_background([], self._settings.palette, self._width), self._indent)
        if index not in self._strips:
            rows = code_rows(self._spans(index), self._settings.palette, self._width)
            self._strips[index] = [self._settings.strip(spans, self._indent) for spans in rows]
        return self._strips[index][row - (self._ends[index - 1] if index else 0)]

    def _spans(self, index: int) -> Spans:
        if self._growing and index == len(self._code) - 1:
            self._highlight(index)
            return copy.copy(self._highlighter).lines(self._code[index])[0]
        if self._growing and index - len(self._highlighted) > MAX_UNDRAWN_LINES:
            plain = self._code[len(self._highlighted) : index]
            self._highlighted += [[Segment(line, NO_STYLE)] for line in plain]
        self._highlight(len(self._code) - self._growing)
        return self._highlighted[index]

    def _highlight(self, end: int) -> None:
        start = len(self._highlighted)
        if start < end:
            self._highlighted += self._highlighter.lines("\n".join(self._code[start:end]) + "\n")


SectionLayout = TextLayout | CodeLayout


def _row_count(line: str, width: int) -> int:
    if len(line) * 2 <= width:
        return 1
    if line.isascii():
        return max(1, -(-len(line) // width))
    return 1 if cell_len(line) <= width else len(hard_wrap([Segment(line)], width))


def _last_row(line: str, width: int) -> str:
    return "".join(span.text for span in hard_wrap([Segment(line)], width)[-1])

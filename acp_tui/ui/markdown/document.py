"""A growing text, laid out for one width. A part of the text is drawn only when it is needed.

Sections that were never drawn have estimated heights, so the number of a line can change when a section above
the line is drawn. `position_at` returns a position that does not change; `line_at` returns the current line
number of a position.
"""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.body import Heights
from acp_tui.ui.drawing.wrap import expand_tabs, hard_wrap, wrap
from acp_tui.ui.markdown.block_renderer import (
    MARGIN,
    QUOTE_BAR,
    BlockRenderer,
    Table,
    code_rows,
    fence_language,
    language_label,
    on_background,
)
from acp_tui.ui.markdown.inline import Inline, References, link_definitions, parse
from acp_tui.ui.markdown.scanner import MarkdownScanner, PlainScanner
from acp_tui.ui.markdown.section import LINK_DEFINITION, Section
from acp_tui.ui.theme.palette import NO_STYLE, Palette, Spans
from acp_tui.ui.theme.syntax import Highlighter

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from rich.style import Style

    from acp_tui.session.growing_text import GrowingText


MAX_OPEN_LINE_LENGTH = 1000
"""An open line (see `OpenLine`) with more characters than this counts as complete."""
MAX_UNDRAWN_LINES = 30
"""If more lines of growing code wait for colours, the lines stay plain until the code is complete."""
MAX_HIGHLIGHTED_CHARACTERS = 100_000
"""Code in a block after this many characters stays plain: a lexer reads 200,000 characters in a second."""
MAX_PROSE_WIDTH = 120
"""The maximum width of a line of prose, in cells. Longer lines are hard to read."""
MIN_SECTION_WIDTH = 16
"""The minimum width of a section, in cells. To keep this width, deeply nested lists are indented less."""
MAX_CACHED_SECTIONS = 400
"""The number of sections whose lines stay in memory. Others are drawn again when needed."""
MAX_LOOKBEHIND = 16
"""To find the line that a section of a long paragraph continues, at most this many sections are laid out."""


class Document:
    """Draws a growing text, as Markdown unless `plain` is true. `prefix` is drawn before each line."""

    def __init__(
        self,
        source: GrowingText,
        palette: Palette,
        width: int,
        prefix: Spans | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self._source = source
        self._settings = LayoutSettings(palette, width, prefix or [])
        self._scanner = PlainScanner() if plain else MarkdownScanner()
        self._read = 0
        self._pending = ""
        self._layouts: list[SectionLayout] = []
        self._heights = Heights()  # of the sections, with the blank line above
        self._growing_block: int | None = None  # the code block that is open at the end of the text
        self._final = 0  # the number of final sections
        self._references: References = {}
        self._all_references: References = {}  # including those of sections that are not final
        self._tables: dict[int, Table | None] = {}  # first parts of long tables, by section
        self._open_lines: dict[int, OpenLine | None] = {}  # last lines of cut sections, by index
        self._drawn: OrderedDict[int, SectionLayout] = OrderedDict()  # the sections whose lines are in memory
        self.update()

    @property
    def height(self) -> int:
        """The number of lines. Sections that were not drawn yet count with their estimated heights."""
        return self._heights.total

    def update(self) -> None:
        """Read what was appended to the text."""
        pending = self._source.pending
        if self._read == self._source.length and self._pending == pending:
            return
        self._scanner.feed(self._source.since(self._read))
        self._read, self._pending = self._source.length, pending
        final, tail = self._scanner.finished, self._scanner.tail(pending)
        self._scanner.finished = []
        before = self._remove_tail()
        growing_block = _growing_block(tail)
        if self._growing_block not in (None, growing_block):
            self._finish_code()
        self._growing_block = growing_block
        for section in final:
            self._append(section, before.get(section.serial))
        self._final = len(self._layouts)
        for section in tail:
            self._append(section, before.get(section.serial))
        self._update_references(final, tail)

    def settle(self, first: int, last: int) -> None:
        """Replace estimated heights by exact ones in the sections from line `first` to line `last`.

        Lines below `first` can get new numbers.
        """
        index, _ = self._heights.at(first)
        while index < len(self._layouts) and self._heights.top(index) <= last:
            layout = self._layouts[index]
            if not layout.is_exact or self._is_outdated(index, layout):
                self._draw(index, layout)
            index += 1

    def line(self, number: int) -> Strip:
        """Draw one line. Return the same object as long as the line stays the same."""
        index, row = self._heights.at(number)
        if index >= len(self._layouts):
            return self._settings.blank
        layout = self._layouts[index]
        if row < layout.section.gap:
            return self._settings.blank_above(layout.section)
        if index not in self._drawn or not layout.in_memory:
            self._draw(index, layout)
        return layout.strip(row - layout.section.gap)

    def position_at(self, line: int) -> tuple[int, int]:
        """Return the position of a line: the index of a section, and the row within that section.

        The position stays valid when the height of a section above the line changes.
        """
        return self._heights.at(line)

    def line_at(self, place: tuple[int, int]) -> int:
        """Return the current line number of a position."""
        index, row = place
        return self._heights.top(index) + min(row, max(0, self._heights[index] - 1))

    @property
    def in_memory(self) -> int:
        """The number of sections whose lines are in memory."""
        return len(self._drawn)

    def _remove_tail(self) -> dict[int, SectionLayout]:
        """Remove the sections that are not final. Return them by serial, because some can be reused."""
        for index in range(self._final, len(self._layouts)):
            self._drawn.pop(index, None)
            self._open_lines.pop(index, None)
        tail = {layout.section.serial: layout for layout in self._layouts[self._final :]}
        del self._layouts[self._final :]
        self._heights.truncate(self._final)
        return tail

    def _append(self, section: Section, before: SectionLayout | None) -> None:
        layout: SectionLayout
        if section.kind == "code":
            code = before if isinstance(before, CodeLayout) else None
            growing = section.block == self._growing_block
            above = self._layouts[-1] if section.first and self._layouts else None
            start = above.end if isinstance(above, CodeLayout) else 0
            layout = CodeLayout(section, self._settings, growing=growing, before=code, start=start)
        elif isinstance(before, TextLayout) and before.section.looks_like(section):
            layout = before
            if before.in_memory:
                self._drawn[len(self._layouts)] = before
            if before.is_exact and section.separator is not None:
                self._open_lines[len(self._layouts)] = before.next_line
        else:
            layout = TextLayout(section, self._settings)
        self._layouts.append(layout)
        self._heights.append(_height(layout))

    def _finish_code(self) -> None:
        """Mark the growing code block as complete: when it is drawn next, it is highlighted as a whole."""
        for layout in reversed(self._layouts):
            if not isinstance(layout, CodeLayout) or layout.section.block != self._growing_block:
                break
            layout.finish()

    def _draw(self, index: int, layout: SectionLayout) -> None:
        """Draw a section. If too many are in memory, drop the lines of the one that was drawn longest ago."""
        if isinstance(layout, TextLayout):
            table_start = self._table_start(layout.section)
            layout.draw(self._all_references, table_start, self._line_before(index))
            if layout.section.separator is not None:
                self._open_lines[index] = layout.next_line
            self._heights[index] = _height(layout)
        self._drawn[index] = layout
        if len(self._drawn) > MAX_CACHED_SECTIONS:
            self._drawn.popitem(last=False)[1].drop()

    def _line_before(self, index: int) -> OpenLine | None:
        """Return the line that a section continues; None if no paragraph continues in this section.

        The exact line depends on all earlier sections of the paragraph. If too many of them have not been
        laid out yet (see `MAX_LOOKBEHIND`), the line is an estimate. `settle` draws the section again when
        the exact line is known.
        """
        if not self._continues_paragraph(index):
            return None
        known = index - 1
        while known not in self._open_lines and self._continues_paragraph(known):
            known -= 1
        if known not in self._open_lines:
            self._open_lines[known] = self._lay_out(known, None)
        line = self._open_lines[known]
        if index - known > MAX_LOOKBEHIND:
            known = index - MAX_LOOKBEHIND
            line = replace(line, spans=[], prefix=line.next_prefix) if line is not None else None
        for earlier in range(known + 1, index):
            line = self._open_lines[earlier] = self._lay_out(earlier, line)
        return line

    def _lay_out(self, index: int, line: OpenLine | None) -> OpenLine | None:
        """Lay out a section that continues `line`. Return the open line at the end of the section."""
        layout = self._layouts[index]
        return layout.last_line(self._all_references, line) if isinstance(layout, TextLayout) else None

    def _continues_paragraph(self, index: int) -> bool:
        return self._layouts[index].section.continues == "paragraph"

    def _is_outdated(self, index: int, layout: SectionLayout) -> bool:
        """Return True if the line that the section continues has changed since the section was drawn."""
        if not isinstance(layout, TextLayout) or not self._continues_paragraph(index):
            return False
        return self._open_lines.get(index - 1, layout.open_line) != layout.open_line

    def _table_start(self, section: Section) -> Table | None:
        first = section.first
        if first is None or section.kind != "table":
            return None
        if first.serial not in self._tables:
            self._tables[first.serial] = parse_table(first, self._settings.palette)
        return self._tables[first.serial]

    def _update_references(self, final: list[Section], tail: list[Section]) -> None:
        """Find the link definitions.

        If the definitions have changed, drop the drawn lines of sections that can contain links.
        """
        for section in final:
            if defined := _definitions(section):
                self._references = defined | self._references
        references = self._references
        for section in tail:
            if defined := _definitions(section):
                references = defined | references
        if references == self._all_references:
            return
        self._all_references = references
        reset = -1
        for index in sorted({*self._drawn, *self._open_lines}):
            section = self._layouts[index].section
            if section.kind in ("text", "rest", "table") and "[" in section.text and index > reset:
                reset = self._reset_paragraph(index)

    def _reset_paragraph(self, index: int) -> int:
        """Drop the drawn lines of a section and of all sections that continue its paragraph.

        Return the index of the last of these sections.
        """
        while True:
            layout = self._layouts[index]
            if isinstance(layout, TextLayout):
                layout.drop()
                layout.is_exact = False
            self._drawn.pop(index, None)
            self._open_lines.pop(index, None)
            if index + 1 == len(self._layouts) or not self._continues_paragraph(index + 1):
                return index
            index += 1


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


class LayoutSettings:
    """What the sections of a document have in common: colours, width and the prefix of each line."""

    def __init__(self, palette: Palette, width: int, prefix: Spans) -> None:
        self.palette = palette
        self.prefix = prefix
        self.width = width - Segment.get_line_length(prefix)
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


def _growing_block(tail: list[Section]) -> int | None:
    """Return the `Section.block` of the code block that is still open; None if there is none."""
    section = tail[-1] if tail else None
    return section.block if section and section.fence and not section.fence.closed else None


def _height(layout: SectionLayout) -> int:
    return layout.section.gap + layout.height if layout.height else 0


def _definitions(section: Section) -> References:
    """Return the link definitions in a section. Few sections have any."""
    if section.kind != "text" or not any(LINK_DEFINITION.match(line) for line in section.lines):
        return {}
    return link_definitions(section.text)

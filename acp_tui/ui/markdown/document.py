"""A growing text, laid out for one width. A part of the text is drawn only when it is needed.

Sections that were never drawn have estimated heights, so the number of a line can change when a section above
the line is drawn. `position_at` returns a position that does not change; `line_at` returns the current line
number of a position.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.ui.drawing.body import Heights
from acp_tui.ui.markdown.inline import link_definitions
from acp_tui.ui.markdown.scanner import MarkdownScanner, PlainScanner
from acp_tui.ui.markdown.section import LINK_DEFINITION
from acp_tui.ui.markdown.section_layout import (
    CodeLayout,
    LayoutSettings,
    SectionLayout,
    TextLayout,
    parse_table,
)

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.growing_text import GrowingText
    from acp_tui.ui.markdown.inline import References
    from acp_tui.ui.markdown.section import Section
    from acp_tui.ui.markdown.section_layout import OpenLine
    from acp_tui.ui.markdown.table import Table
    from acp_tui.ui.theme.palette import Palette, Spans

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

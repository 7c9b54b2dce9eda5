"""Draws a section. If its paragraph continues in the next section, passes the last line to that section."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.drawing.wrap import wrap
from acp_tui.ui.markdown.block_renderer import BlockRenderer
from acp_tui.ui.markdown.inline import Inline
from acp_tui.ui.markdown.parser import parse
from acp_tui.ui.markdown.table import Table

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from rich.style import Style

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.markdown.parser import References
    from acp_tui.ui.markdown.section import Section
    from acp_tui.ui.theme.palette import Palette

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

"""Paints the lines of the transcript: cursor bar, search matches, selection and colour filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.color import TRANSPARENT
from textual.strip import Strip

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.ui.drawing.line_style import LineStyle
from acp_tui.ui.drawing.search_highlight import SearchHighlight, restyle
from acp_tui.ui.transcript.selection import selection_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.color import Color
    from textual.filter import LineFilter
    from textual.selection import Selection

    from acp_tui.ui.transcript.entry_block import EntryBlock
    from acp_tui.ui.transcript.entry_layout import EntryLayout

CURSOR_MARGIN = 1
"""Cells reserved at the left for the cursor bar."""
STRAY_MARK = "┊"
"""Marks entries that came outside a turn, or after the user had stopped the turn."""
MAX_CACHED_LINES = 500
"""The maximum number of painted lines to cache per entry: a few screens."""


class LinePainter:
    """Adds the cursor bar, search matches and selection to the lines of entries. Caches unchanged lines."""

    def __init__(self, layout: EntryLayout) -> None:
        self._layout = layout
        self.highlight = SearchHighlight()
        """Highlights the matches of the search."""
        self.cursor: int | None = None
        """The id of the entry with the cursor bar; None if no entry has it.

        Code that moves the bar must clear `EntryBlock.painted` of the entries that lose or get the bar.
        """
        self.line_style = LineStyle(Style(), 0, TRANSPARENT, [])
        """The style and width of lines, as set by the last call of `use`."""

    def use(self, style: Style, width: int, background: Color, filters: Sequence[LineFilter]) -> None:
        """Set how lines are painted. If an argument differs from the last call, cached lines are dropped."""
        if not self.line_style.matches(style, width, background, filters):
            self.line_style = LineStyle(style, width, background, filters)
            for block in self._layout.blocks:
                block.painted.clear()

    def line(self, row: int, selection: Selection | None, selection_style: Style) -> Strip:
        """Paint one row of the conversation."""
        layout, line_style = self._layout, self.line_style
        if row >= layout.total or not layout.width:
            return line_style.blank
        index, line = layout.heights.at(row)
        block = layout.blocks[index]
        line -= block.gap
        if line < 0 or block.body is None or line >= block.body.height:
            return line_style.blank
        strip = self._base_line(block, line)
        if selection is None and not self.highlight.needle:
            return strip
        anchor = selection_row(block, line)
        if self.highlight.needle:
            strip = self.highlight.apply(strip, block.entry.id, line, layout.palette)
        if selection is not None:
            strip = _select(strip, selection, anchor, selection_style)
        return line_style.apply_filters(strip.apply_offsets(0, anchor))

    def _base_line(self, block: EntryBlock, line: int) -> Strip:
        """Paint a line without marking matches or the selection. Use the cache if the line is unchanged."""
        assert block.body is not None
        source = block.body.line(line)
        cached = block.painted.get(line)
        if cached is not None and cached[0] is source:
            return cached[1]
        if len(block.painted) >= MAX_CACHED_LINES:  # scrolling through a long message
            block.painted.clear()
        strip = self.line_style.extend(self._with_margin(block, source))
        strip = self.line_style.apply_filters(strip.apply_offsets(0, selection_row(block, line)))
        block.painted[line] = source, strip
        return strip

    def _with_margin(self, block: EntryBlock, strip: Strip) -> Strip:
        palette = self._layout.palette
        if block.entry.withdrawn and kind_of(block.entry).dims_when_withdrawn:
            strip = Strip(
                [Segment(text, (own or palette.text) + palette.withdrawn) for text, own, _ in strip]
            )
        margin = Segment("▎" if self.cursor == block.entry.id else " ", palette.cursor)
        if block.entry.stray and self.cursor != block.entry.id:
            margin = Segment(STRAY_MARK, palette.faint)
        return Strip([margin, *strip])


def _select(strip: Strip, selection: Selection, anchor: int, style: Style) -> Strip:
    span = selection.get_span(anchor)
    if span is None:
        return strip
    start, end = max(CURSOR_MARGIN, span[0]), span[1]
    if end == -1:
        end = len(strip.text.rstrip())
    return restyle(strip, start, end, style) if end > start else strip

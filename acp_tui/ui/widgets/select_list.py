"""A list of rows to choose from. The chosen one has a sign before it, so it shows without colours too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import wrap
from acp_tui.ui.theme.component_style import highlight_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

MARKER_WIDTH = 2
"""Cells before a row, for the sign."""
RIGHT_MARGIN = 2
"""Cells after a row: the scrollbar may be there, and nothing touches it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to choose. The lead (a number, a mark) stands before the first line only."""

    lead: Spans
    text: Spans
    note: Spans | None = None  # on lines of its own below
    tail: Spans | None = None  # at the right end of the first line
    above: Sequence[Spans] = ()  # lines that come before it and do not belong to it, such as a heading
    cut: bool = False  # what is too long for its line is cut, not wrapped

    def lines(self, width: int) -> list[Spans]:
        """Wrapped to so many cells."""
        indent = Segment(" " * _cells(self.lead))
        room = width - indent.cell_length
        end = _cells(self.tail or []) + 1 if self.tail else 0
        texts = _cut(self.text, room - end) if self.cut else wrap(self.text, max(8, room - end))
        if self.note:
            texts += _cut(self.note, room) if self.cut else wrap(self.note, room)
        lines = [[*(self.lead if number == 0 else [indent]), *line] for number, line in enumerate(texts)]
        if self.tail:
            gap = width - _cells(lines[0]) - _cells(self.tail)
            lines[0] += [Segment(" " * max(1, gap)), *self.tail]
        return lines


def _cut(spans: Spans, width: int) -> list[Spans]:
    """The one line, with a sign where it was cut."""
    strip = Strip(spans)
    if strip.cell_length <= width:
        return [spans]
    style = spans[-1].style
    return [[*strip.crop(0, max(0, width - 1)), Segment("…", style)]]


def _cells(spans: Spans) -> int:
    return sum(span.cell_length for span in spans)


class SelectList(ScrollView):
    """Shows rows. The mouse takes; keys are those of its screen, which moves `selected`."""

    DEFAULT_CSS = """
    SelectList {
        height: auto;
        background: transparent;
        color: $foreground;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
    }
    """
    ALLOW_SELECT = False

    selected: reactive[int] = reactive(0)
    """The row that Enter takes; -1: none."""

    class Chosen(Message):
        """The user clicked a row."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(
        self,
        rows: Sequence[Row],
        palette: Palette,
        *,
        selected: int = 0,
        id: str | None = None,  # noqa: A002  # Textual's word
    ) -> None:
        super().__init__(id=id)
        self._rows = list(rows)
        self.nothing = ""
        """What stands there without any row."""
        self._palette = palette
        # Of which row it is (none: it is above one), whether its first, and what it shows.
        self._lines: list[tuple[int | None, bool, Spans]] = []
        self._width = 0
        self.set_reactive(SelectList.selected, selected)

    def show(self, rows: Sequence[Row], selected: int = 0) -> None:
        """Other rows."""
        self._rows = list(rows)
        self._width = 0
        self.height_at(self.size.width)
        self.selected = max(0, min(selected, len(self._rows) - 1))
        self._reveal()
        self.refresh(layout=True)

    def use_palette(self, palette: Palette) -> None:
        """The theme has changed; rows in the new colours are to follow."""
        self._palette = palette

    def move(self, step: int) -> None:
        """To another row; past an end: to the other one."""
        if self._rows:
            start = self.selected if self.selected >= 0 or step > 0 else 0  # -1: none is chosen
            self.selected = (start + step) % len(self._rows)

    def height_at(self, width: int) -> int:
        """How many lines there are in so many cells."""
        if width != self._width and width > 0:
            self._width = width
            self._lines = []
            if self.nothing and not self._rows:
                self._lines.append((None, False, [Segment(self.nothing, self._palette.dim)]))
            for index, row in enumerate(self._rows):
                self._lines += [(None, False, line) for line in row.above]
                texts = row.lines(max(8, width - MARKER_WIDTH - RIGHT_MARGIN))
                self._lines += [(index, number == 0, line) for number, line in enumerate(texts)]
            self.virtual_size = Size(width, len(self._lines))
        return len(self._lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As high as its lines, unless the style says otherwise."""
        return self.height_at(width)

    def on_resize(self) -> None:
        """Lines break elsewhere now."""
        self.height_at(self.size.width)
        self._reveal()
        self.refresh()

    def watch_selected(self) -> None:
        """Keep it on the screen."""
        self._reveal()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """The row under the mouse."""
        row = self.scroll_offset.y + event.y
        index = self._lines[row][0] if row < len(self._lines) else None
        if index is not None:
            event.stop()
            self.selected = index
            self.post_message(self.Chosen(index))

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        row, width, base = self.scroll_offset.y + y, self.size.width, self.rich_style
        if row >= len(self._lines):
            return Strip.blank(width, base)
        index, first, spans = self._lines[row]
        chosen = index == self.selected
        sign = Segment("❯ " if chosen and first else "  ", self._palette.key)
        strip = Strip([sign, *spans]).crop_extend(0, width, None)
        if not chosen:
            return strip.apply_style(base)
        return highlight_row(strip, base + self._palette.selected)

    def _reveal(self) -> None:
        of_row = [number for number, line in enumerate(self._lines) if line[0] == self.selected]
        if of_row and self.size.height:
            above = len(self._rows[self.selected].above)
            region = Region(0, of_row[0] - above, self.size.width, len(of_row) + above)
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

"""A list with headings and notes between the items that can be chosen.

Only visible items are drawn, and items without a fixed height in order to measure them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.ui.drawing.body import Heights
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.select_list import SELECTED_SIGN, draw_row

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events


MARK_CELLS = 2
"""The width, in cells, of the column for the mark of the chosen item."""
MIN_WIDTH = 16
MAX_JUMP_LINES = 2
"""If the next item is farther outside the view than this, the arrow keys scroll and do not choose it."""


@dataclass(frozen=True, slots=True)
class PaneItem:
    """An item of the list, such as a heading or a file."""

    draw: Callable[[int], list[Strip]]  # returns the item's lines for a width
    key: str | None = None  # identifies the item; None if the item cannot be chosen
    height: int | None = 1  # number of lines; None if it depends on the width


class PaneList(ScrollView, can_focus=True):
    """Shows items. The chosen item stays chosen when items are added or removed around it."""

    DEFAULT_CSS = """
    PaneList {
        height: 1fr;
        background: transparent;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
    }
    """
    ALLOW_SELECT = False
    MARKED_WITHOUT_FOCUS: ClassVar = False
    """Whether the chosen item keeps its mark while another widget has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self._items: Sequence[PaneItem] = ()
        self._heights = Heights()
        self._drawn: dict[int, list[Strip]] = {}
        self._width = 0
        self._chosen: str | None = None

    # ------------------------------------------------------------------------- content

    def show(self, items: Sequence[PaneItem]) -> None:
        """Replace the items. If the chosen item is gone, choose the first item."""
        self._items = items
        self._measure()
        keys = [item.key for item in items if item.key is not None]
        if self._chosen not in keys:
            self._chosen = keys[0] if keys else None
        self.refresh()

    @property
    def chosen(self) -> str | None:
        """The key of the chosen item, if any."""
        return self._chosen

    def choose(self, key: str) -> None:
        """Choose the item with this key, and scroll to the item."""
        if key != self._chosen and any(item.key == key for item in self._items):
            self._chosen = key
            self._scroll_to_chosen()
            self.refresh()
            self.refresh_bindings()

    def on_resize(self) -> None:
        """Measure the items again if the width changed."""
        if self.scrollable_content_region.width != self._width:
            self._measure()
        self.refresh()

    def _measure(self) -> None:
        self._drawn = {}
        self._heights.reset([])
        self._width = self.scrollable_content_region.width
        if not self._width:
            return  # hidden; a resize event follows when it is shown
        heights = []
        for index, item in enumerate(self._items):
            heights.append(len(self._lines(index)) if item.height is None else item.height)
        self._heights.reset(heights)
        self.virtual_size = Size(self._width, self._heights.total)

    def _lines(self, index: int) -> list[Strip]:
        lines = self._drawn.get(index)
        if lines is None:
            lines = self._drawn[index] = self._items[index].draw(max(MIN_WIDTH, self._width - MARK_CELLS))
        return lines

    # ------------------------------------------------------------------------- choosing

    def move(self, step: int) -> None:
        """Choose the next (1) or previous (-1) item, or scroll a line if there is none nearby."""
        positions = [index for index, item in enumerate(self._items) if item.key is not None]
        at = next((index for index in positions if self._items[index].key == self._chosen), None)
        if at is None or not self._is_visible(at):
            visible = [index for index in positions if self._is_visible(index)]
            following = visible[0 if step > 0 else -1] if visible else None
        else:
            place = positions.index(at) + step
            following = positions[place] if 0 <= place < len(positions) else None
        if following is None or not self._is_visible(following, MAX_JUMP_LINES):
            self.scroll_relative(y=step, animate=False)
        elif (key := self._items[following].key) is not None:
            self.choose(key)

    def choose_end(self, step: int) -> None:
        """Scroll to the start (-1) or end (1), and choose the item there."""
        keys = [item.key for item in self._items if item.key is not None]
        if keys:
            self.choose(keys[0 if step < 0 else -1])
        if step < 0:
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)

    def page(self, step: int) -> None:
        """Scroll a page down (1) or up (-1), with one line of overlap."""
        self.scroll_relative(y=step * max(1, self.size.height - 1), animate=False)

    def _is_visible(self, index: int, margin: int = 0) -> bool:
        top, first = self._heights.top(index), self.scroll_offset.y
        return first - margin <= top < first + self.size.height + margin

    def _scroll_to_chosen(self) -> None:
        at = next((n for n, item in enumerate(self._items) if item.key == self._chosen), None)
        if at is not None and self.size.height:
            region = Region(0, self._heights.top(at), self._width, self._heights[at])
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def key_at(self, y: int) -> str | None:
        """Return the key of the item in a row of the widget; None if no item there can be chosen."""
        row = self.scroll_offset.y + y
        return self._items[self._heights.at(row)[0]].key if row < self._heights.total else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Choose the item under the mouse."""
        if (key := self.key_at(event.y)) is not None:
            self.choose(key)

    # ------------------------------------------------------------------------- drawing

    def on_focus(self) -> None:
        """Highlight the chosen item."""
        self.refresh()

    def on_blur(self) -> None:
        """Remove the highlight of the chosen item."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        palette = current_palette()
        row, width, base = self.scroll_offset.y + y, self._width, self.rich_style
        if row >= self._heights.total:
            return Strip.blank(width, base)
        index, number = self._heights.at(row)
        lines = self._lines(index)
        line = lines[number] if number < len(lines) else Strip([])
        key = self._items[index].key
        chosen = key is not None and key == self._chosen
        marked = chosen and (self.has_focus or self.MARKED_WITHOUT_FOCUS) and not number
        mark = Segment(f"{SELECTED_SIGN} " if marked else "  ", palette.key)
        style = base + palette.selected if chosen and self.has_focus else None
        return draw_row([mark, *line], width, base, style)


MIN_LABEL_CELLS = 12
"""Minimum width of the label column."""
RIGHT_MARGIN = 1
"""The number of cells kept free at the right edge."""


def justified_line(left: Spans, right: Spans, width: int) -> Strip:
    """Return a line with a left and a right part. The caller makes sure that the left part fits."""
    used = Segment.get_line_length([*left, *right])
    gap = Segment(" " * max(0, width - RIGHT_MARGIN - used))
    return Strip([*left, gap, *right]).crop(0, width)


def heading_item(title: str, note: str = "", *, first: bool = False) -> PaneItem:
    """Return a heading: a title, with `note` at the right edge."""
    palette = current_palette()

    def draw(width: int) -> list[Strip]:
        line = justified_line([Segment(title, palette.strong)], [Segment(note, palette.dim)], width)
        return [line] if first else [Strip([]), line]

    return PaneItem(draw, height=1 if first else 2)


def text_item(text: str, style: Style) -> PaneItem:
    """Return an item with wrapped text."""
    return PaneItem(
        lambda width: [make_strip(line) for line in wrap([Segment(text, style)], width - RIGHT_MARGIN)],
        height=None,
    )


def fact_item(
    label: str,
    text: str,
    *,
    key: str | None = None,
    style: Style | None = None,
    column: int = MIN_LABEL_CELLS,
) -> PaneItem:
    """Return an item with a label and, in a second column, wrapped text."""
    palette = current_palette()

    def draw(width: int) -> list[Strip]:
        cells = min(column, width // 2)
        lines = wrap([Segment(text, style or palette.text)], max(8, width - cells - RIGHT_MARGIN))
        first = Segment(set_cell_size(shorten(label, cells - 1), cells), palette.dim)
        return [make_strip(line, [first if n == 0 else Segment(" " * cells)]) for n, line in enumerate(lines)]

    return PaneItem(draw, key, height=None)


def label_column_width(labels: Iterable[str]) -> int:
    """Return the width, in cells, of a column in which all these labels fit."""
    return max([MIN_LABEL_CELLS, *(cell_len(label) + 2 for label in labels)])

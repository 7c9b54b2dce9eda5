"""A list with headings and notes between what can be chosen. Only the rows that are seen are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.theme.component_style import highlight_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events

    from acp_tui.ui.theme.palette import Palette

SIGN = 2
"""Cells before each line, for the sign of the chosen one."""
MIN_WIDTH = 16
NEAR = 2
"""Lines beyond the screen that the next one to choose may be away; until then the list is scrolled."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in the list."""

    draw: Callable[[int], list[Strip]]  # its lines in so many cells
    key: str | None = None  # what it is; None: it cannot be chosen
    height: int | None = 1  # how many lines; None: as many as are drawn


class PaneList(ScrollView, can_focus=True):
    """Shows items. What is chosen stays chosen when others come or go around it."""

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

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._items: Sequence[Item] = ()
        self._heights = Heights()
        self._drawn: dict[int, list[Strip]] = {}
        self._width = 0
        self._chosen: str | None = None

    # ------------------------------------------------------------------------- what is shown

    def show(self, items: Sequence[Item]) -> None:
        """These now."""
        self._items = items
        self._measure()
        keys = [item.key for item in items if item.key is not None]
        if self._chosen not in keys:
            self._chosen = keys[0] if keys else None
        self.refresh()

    @property
    def chosen(self) -> str | None:
        """The key of the item that keys act on."""
        return self._chosen

    def choose(self, key: str) -> None:
        """Keys act on this one from now on."""
        if key != self._chosen and any(item.key == key for item in self._items):
            self._chosen = key
            self._reveal()
            self.refresh()
            self.refresh_bindings()

    def on_resize(self) -> None:
        """Lines break elsewhere now."""
        if self.scrollable_content_region.width != self._width:
            self._measure()
        self.refresh()

    def _measure(self) -> None:
        self._drawn = {}
        self._heights.reset([])
        self._width = self.scrollable_content_region.width
        if not self._width:
            return  # hidden; it is drawn once before it is told its size again
        heights = []
        for index, item in enumerate(self._items):
            heights.append(len(self._lines(index)) if item.height is None else item.height)
        self._heights.reset(heights)
        self.virtual_size = Size(self._width, self._heights.total)

    def _lines(self, index: int) -> list[Strip]:
        lines = self._drawn.get(index)
        if lines is None:
            lines = self._drawn[index] = self._items[index].draw(max(MIN_WIDTH, self._width - SIGN))
        return lines

    # ------------------------------------------------------------------------- choosing

    def move(self, step: int) -> None:
        """To the next item that can be chosen; where it is far away, or there is none, a line further."""
        places = [index for index, item in enumerate(self._items) if item.key is not None]
        at = next((place for place in places if self._items[place].key == self._chosen), None)
        if at is None or not self._is_seen(at):
            seen = [place for place in places if self._is_seen(place)]
            following = seen[0 if step > 0 else -1] if seen else None
        else:
            index = places.index(at) + step
            following = places[index] if 0 <= index < len(places) else None
        if following is None or not self._is_seen(following, NEAR):
            self.scroll_relative(y=step, animate=False)
        elif (key := self._items[following].key) is not None:
            self.choose(key)

    def page(self, step: int) -> None:
        """A screen up or down; the last line stays in sight."""
        self.scroll_relative(y=step * max(1, self.size.height - 1), animate=False)

    def _is_seen(self, index: int, margin: int = 0) -> bool:
        top, first = self._heights.top(index), self.scroll_offset.y
        return first - margin <= top < first + self.size.height + margin

    def _reveal(self) -> None:
        at = next((n for n, item in enumerate(self._items) if item.key == self._chosen), None)
        if at is not None and self.size.height:
            region = Region(0, self._heights.top(at), self._width, self._heights[at])
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def key_at(self, y: int) -> str | None:
        """What is in a line of the widget."""
        row = self.scroll_offset.y + y
        return self._items[self._heights.at(row)[0]].key if row < self._heights.total else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Choose what is pointed at."""
        if (key := self.key_at(event.y)) is not None:
            self.choose(key)

    # ------------------------------------------------------------------------- drawing

    def on_focus(self) -> None:
        """The sign shows."""
        self.refresh()

    def on_blur(self) -> None:
        """It does not."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        row, width, base = self.scroll_offset.y + y, self._width, self.rich_style
        if row >= self._heights.total:
            return Strip.blank(width, base)
        index, number = self._heights.at(row)
        lines = self._lines(index)
        line = lines[number] if number < len(lines) else Strip([])
        key = self._items[index].key
        chosen = self.has_focus and key is not None and key == self._chosen
        sign = Segment("❯ " if chosen and not number else "  ", self.palette.key)
        strip = Strip([sign, *line]).crop_extend(0, width, None)
        if not chosen:
            return strip.apply_style(base)
        return highlight_row(strip, base + self.palette.selected)

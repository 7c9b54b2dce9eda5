"""A list of rows to choose from. A sign marks the selected row, also on terminals without colours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rich.segment import Segment
from textual.fuzzy import Matcher
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import shorten_spans, wrap
from acp_tui.ui.theme.palette import NOT_DIM, Spans, current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events


SELECTED_SIGN = "❯"
"""Marks the selected row, also on terminals without colours."""


def draw_row(spans: Iterable[Segment], width: int, base: Style, selected: Style | None = None) -> Strip:
    """Draw a row in exactly `width` cells. Pass the style `selected` only for a selected row."""
    strip = Strip(spans).crop_extend(0, width, None)
    if selected is None:
        return strip.apply_style(base)
    # Colours of the text are replaced, because they may not suit the background of the selection.
    style = selected + NOT_DIM
    return Strip([Segment(text, own + style if own else style) for text, own, _ in strip], strip.cell_length)


def first_visible_row(first: int, selected: int, visible: int, count: int) -> int:
    """Return the first row to show so that the selected one is visible.

    Scrolls as little as possible from `first`. `visible` rows fit; `count` is the number of all rows.
    """
    return max(selected - visible + 1, min(first, selected, count - visible))


MARKER_WIDTH = 2
"""The number of cells before a row, for the sign of the selected row."""
RIGHT_MARGIN = 2
"""The number of cells after a row, for the scrollbar and a gap."""


@dataclass(frozen=True, slots=True)
class SelectRow:
    """A row to choose. `lead`, such as a number, is shown before the first line only."""

    lead: Spans
    text: Spans
    note: Spans | None = None  # on separate lines below the text
    tail: Spans | None = None  # at the right end of the first line
    above: Sequence[Spans] = ()  # lines before the row that are not part of it, such as a heading
    cut: bool = False  # shorten long text instead of wrapping it

    def lines(self, width: int) -> list[Spans]:
        """Return the lines of the row, wrapped or shortened to `width` cells."""
        indent = Segment(" " * Segment.get_line_length(self.lead))
        room = width - indent.cell_length
        end = Segment.get_line_length(self.tail or []) + 1 if self.tail else 0
        texts = [shorten_spans(self.text, room - end)] if self.cut else wrap(self.text, max(8, room - end))
        if self.note:
            texts += [shorten_spans(self.note, room)] if self.cut else wrap(self.note, room)
        lines = [[*(self.lead if number == 0 else [indent]), *line] for number, line in enumerate(texts)]
        if self.tail:
            gap = width - Segment.get_line_length(lines[0]) - Segment.get_line_length(self.tail)
            lines[0] += [Segment(" " * max(1, gap)), *self.tail]
        return lines


class _Line(NamedTuple):
    """A line of the list."""

    row: int | None  # the index of its row; None for a line above a row
    is_first: bool  # of its row
    spans: Spans


class SelectList(ScrollView):
    """Shows rows. A click chooses a row; the screen binds the keys and calls `move`."""

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
    """Index of the selected row; -1 for none."""

    class Chosen(Message):
        """The user clicked a row. `clicks` is 2 for the second click of a double click."""

        def __init__(self, index: int, clicks: int = 1) -> None:
            super().__init__()
            self.index = index
            self.clicks = clicks

    def __init__(
        self,
        rows: Sequence[SelectRow],
        *,
        selected: int = 0,
        id: str | None = None,  # noqa: A002  # as in Textual
    ) -> None:
        super().__init__(id=id)
        self._rows = list(rows)
        self.empty_text = ""
        """Shown if there are no rows."""
        self._lines: list[_Line] = []
        self._heights: dict[int, int] = {}  # the number of lines, by width
        self.set_reactive(SelectList.selected, selected)

    def show(self, rows: Sequence[SelectRow], selected: int = 0) -> None:
        """Replace the rows and select one; -1 selects none."""
        self._rows = list(rows)
        self._heights.clear()
        self._wrap_rows()
        self.selected = max(0, min(selected, len(self._rows) - 1)) if selected >= 0 else -1
        self._scroll_to_selected()
        self.refresh(layout=True)

    def move(self, step: int) -> None:
        """Move the selection. At the ends, a single step wraps around and a longer one stops."""
        if self._rows:
            start = self.selected if self.selected >= 0 or step > 0 else 0  # -1: no row is selected
            count, at = len(self._rows), start + step
            self.selected = at % count if abs(step) == 1 else max(0, min(count - 1, at))

    def move_to_end(self, step: int) -> None:
        """Select the last row, or the first one if `step` is negative."""
        if self._rows:
            self.selected = len(self._rows) - 1 if step > 0 else 0

    def height_at(self, width: int) -> int:
        """Return the number of lines of the list at a width."""
        if width not in self._heights:
            self._heights[width] = len(self._lines_at(width)) if width > 0 else 0
        return self._heights[width]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines of the list. Called during the layout: must not change the list."""
        return self.height_at(width)

    def on_resize(self) -> None:
        """Wrap lines at the new width."""
        self._wrap_rows()
        self._scroll_to_selected()
        self.refresh()

    def _wrap_rows(self) -> None:
        width = self.size.width
        if width > 0:
            self._lines = self._lines_at(width)
            self.virtual_size = Size(width, len(self._lines))

    def _lines_at(self, width: int) -> list[_Line]:
        if self.empty_text and not self._rows:
            return [_Line(None, False, [Segment(self.empty_text, current_palette().dim)])]
        lines = []
        for index, row in enumerate(self._rows):
            lines += [_Line(None, False, line) for line in row.above]
            texts = row.lines(max(8, width - MARKER_WIDTH - RIGHT_MARGIN))
            lines += [_Line(index, number == 0, line) for number, line in enumerate(texts)]
        return lines

    def watch_selected(self) -> None:
        """Scroll to the selected row."""
        self._scroll_to_selected()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        row = self.scroll_offset.y + event.y
        index = self._lines[row].row if row < len(self._lines) else None
        if index is not None:
            event.stop()
            self.selected = index
            self.post_message(self.Chosen(index, event.chain))

    def render_line(self, y: int) -> Strip:
        palette = current_palette()
        row, width, base = self.scroll_offset.y + y, self.size.width, self.rich_style
        if row >= len(self._lines):
            return Strip.blank(width, base)
        index, first, spans = self._lines[row]
        chosen = index == self.selected
        sign = Segment(f"{SELECTED_SIGN} " if chosen and first else "  ", palette.key)
        return draw_row([sign, *spans], width, base, base + palette.selected if chosen else None)

    def _scroll_to_selected(self) -> None:
        positions = [number for number, line in enumerate(self._lines) if line.row == self.selected]
        if positions and self.size.height:
            above = len(self._rows[self.selected].above)
            region = Region(0, positions[0] - above, self.size.width, len(positions) + above)
            self.scroll_to_region(region, animate=False, force=True, immediate=True)


Item = TypeVar("Item")
Rank = tuple[int, int]
"""How good a match is (smaller is better), and the index of the field with the match."""


def word_rank(query: str, *fields: str) -> Rank | None:
    """Find the best match of each word of `query`, and return the rank of the worst of these matches.

    Returns None if a word occurs in no field, or if there are no words. Pass the most important field first:
    of equally good matches, the match in the earlier field wins.
    """
    ranks: list[Rank] = []
    for typed in query.lower().split():
        found = [
            (rank, index)
            for index, field in enumerate(fields)
            if (rank := _rank(typed, field.lower())) is not None
        ]
        if not found:
            return None
        ranks.append(min(found))
    return max(ranks, default=None)


def _rank(typed: str, text: str) -> int | None:
    if typed not in text:
        return None
    words = {*re.findall(r"\w+", text), *text.split()}
    if typed in words:
        return 0
    return 1 if any(word.startswith(typed) for word in words) else 2


def best_matches(query: str, items: Sequence[Item], fields: Callable[[Item], Sequence[str]]) -> list[Item]:
    """Return the matching items, best first.

    If no item matches, return the items whose first field contains the letters of the query in order.
    """
    ranked = [(rank, item) for item in items if (rank := word_rank(query, *fields(item))) is not None]
    if ranked:
        return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
    match = Matcher(query).match
    scored = [(match(fields(item)[0]), item) for item in items]
    return [item for score, item in sorted(scored, key=lambda pair: -pair[0]) if score > 0]

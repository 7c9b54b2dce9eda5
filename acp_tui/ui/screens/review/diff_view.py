"""Shows a changed file with a cursor on one of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import make_strip, wrap
from acp_tui.ui.screens.review.file_diff import COMMENT_SIGN, FileDiff, ReviewRow
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.select_list import SELECTED_SIGN

if TYPE_CHECKING:
    from textual import events


PART_SIGN, RANGE_SIGN = "▎", "┃"
"""The marks at the left of the rows: for rows of the current part, and for rows of the chosen range."""
LINES_ABOVE = 2
"""The number of lines kept visible above the cursor when it moves."""


class DiffView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a changed file, of which only the visible rows are drawn. The screen handles the keys."""

    DEFAULT_CSS = """
    DiffView {
        background: transparent;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
    }
    """
    ALLOW_SELECT = False

    class Moved(Message):
        """The cursor moved to another row."""

    def __init__(self) -> None:
        super().__init__()
        self.diff: FileDiff | None = None
        self.cursor = 0
        """The index of the row with the cursor."""
        self.range_start: int | None = None
        """The index of the row where the chosen range starts; None if only the cursor's row is chosen."""
        self.commenting = False
        """Whether a comment is being written. The comment line has the focus then."""
        self.part_is_gone = False
        """Whether the part that the user moved to is gone, so that the cursor is now in another one."""
        self._message = ""

    def on_resize(self) -> None:
        """Keep the cursor visible, for example above a toast or a long comment."""
        self.call_after_refresh(self._show_cursor)

    # ------------------------------------------------------------------------- content

    def show(self, diff: FileDiff | None, message: str = "") -> None:
        """Show `diff`, or `message` if `diff` is None. The cursor stays on its row if possible."""
        old, row, old_part = self.diff, self.row, self.part
        self.diff, self._message = diff, message
        self.range_start = None
        total = diff.heights.total if diff is not None else 0
        self.virtual_size = Size(self.scrollable_content_region.width, total)
        self.cursor = min(self.cursor, len(diff.rows) - 1) if diff is not None and diff.rows else 0
        if diff is not None and old is not None and row is not None:
            part = diff.find_part(old, old_part)
            if part is None:
                self.part_is_gone = True
            else:
                within, place = part if row.part >= 0 else -1, row.place
                rows = enumerate(diff.rows)
                same = (at for at, one in rows if one.part == within and one.place == place)
                self.cursor = next(same, self.cursor)
                if self.part != part:
                    self.cursor = diff.first_row(part)
        self.refresh()

    @property
    def part(self) -> int:
        """The index of the part with the cursor."""
        if self.diff is None or not self.diff.rows:
            return 0
        above = (self.diff.rows[at].part for at in range(self.cursor, -1, -1))
        return max(0, next((part for part in above if part >= 0), 0))

    @property
    def row(self) -> ReviewRow | None:
        """The row with the cursor."""
        return self.diff.rows[self.cursor] if self.diff is not None and self.diff.rows else None

    @property
    def chosen_rows(self) -> list[ReviewRow]:
        """The rows from the start of the range to the cursor; without a range, the row at the cursor."""
        if self.diff is None:
            return []
        first, last = self._range()
        return self.diff.rows[first : last + 1]

    def _range(self) -> tuple[int, int]:
        start = self.cursor if self.range_start is None else self.range_start
        return min(start, self.cursor), max(start, self.cursor)

    # ------------------------------------------------------------------------- moving

    def go_to_part(self, part: int) -> None:
        """Move the cursor to the `first_row` of a part, and show as much of the part as fits."""
        if self.diff is None or not self.diff.rows:
            return
        self.range_start = None
        self.cursor = self.diff.first_row(part)
        rows = self.diff.rows_of(part)
        if rows:
            top = self.diff.heights.top(rows[0]) if part else 0  # show the notes above the first part, too
            bottom = self.diff.heights.top(rows[-1]) + self.diff.heights[rows[-1]]
            self._show_lines(top, min(bottom, top + max(1, self.size.height)))
        self._show_cursor()
        self._moved()

    def move(self, step: int) -> None:
        """Move the cursor by `step` rows, not counting headings and blank rows."""
        if self.diff is None:
            return
        at, rest = self.cursor, abs(step)
        while rest and 0 <= at + (1 if step > 0 else -1) < len(self.diff.rows):
            at += 1 if step > 0 else -1
            if self.diff.rows[at].kind in ("line", "comment", "note"):
                self.cursor = at
                rest -= 1
        self._show_cursor()
        self._moved()

    def page(self, step: int) -> None:
        """Move the cursor by a page."""
        self.move(step * max(1, self.size.height - 2))

    def _moved(self) -> None:
        self.part_is_gone = False
        self.refresh()
        self.post_message(self.Moved())

    def _show_cursor(self) -> None:
        if self.diff is not None and self.diff.rows:
            top = self.diff.heights.top(self.cursor)
            above = min(LINES_ABOVE, top)
            self._show_lines(top - above, top + self.diff.heights[self.cursor])

    def _show_lines(self, top: int, bottom: int) -> None:
        region = Region(0, top, max(1, self.size.width), max(1, bottom - top))
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Move the cursor to the row under the mouse."""
        line = self.scroll_offset.y + event.y
        if self.diff is not None and line < self.diff.heights.total:
            self.cursor = self.diff.heights.at(line)[0]
            self._moved()

    # ------------------------------------------------------------------------- drawing

    def on_focus(self) -> None:
        """Draw the cursor, which may have been hidden while the diff did not have the focus."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw without the cursor."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        if self.diff is None or not self.diff.rows:
            return self._message_line(y, width).crop_extend(0, width, base).apply_style(base)
        line = self.scroll_offset.y + y
        if line >= self.diff.heights.total:
            return Strip.blank(width, base)
        index, number = self.diff.heights.at(line)
        strips = self.diff.strips(index, current=self.diff.rows[index].part == self.part)
        strip = strips[number] if number < len(strips) else Strip([])
        return Strip([*self._signs(index, number), *strip]).crop_extend(0, width, base).apply_style(base)

    def _message_line(self, y: int, width: int) -> Strip:
        lines = wrap([Segment(self._message, current_palette().dim)], max(8, width - 4))
        return make_strip(lines[y - 1], [Segment("  ")]) if 0 < y <= len(lines) else Strip([])

    def _signs(self, index: int, number: int) -> list[Segment]:
        assert self.diff is not None
        row, palette = self.diff.rows[index], current_palette()
        first, last = self._range()
        if self.range_start is not None and first <= index <= last:
            at_cursor = index == self.cursor and not number
            return [Segment(f"{SELECTED_SIGN if at_cursor else RANGE_SIGN}   ", palette.selected)]
        sign = Segment("  ")
        if (self.has_focus or self.commenting) and index == self.cursor and not number:
            sign = Segment(f"{SELECTED_SIGN} ", palette.key)
        elif row.part >= 0 and row.part == self.part and row.kind != "blank":
            sign = Segment(f"{PART_SIGN} ", palette.accent)
        commented = row.kind == "comment" and not number
        return [sign, Segment(f"{COMMENT_SIGN} " if commented else "  ", palette.accent)]

"""The list of frames on the wire screen. Only visible rows are read and drawn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from acp_tui.console import format_size
from acp_tui.ui.drawing.wrap import shorten, shorten_spans, wrap
from acp_tui.ui.screens.wire.json_view import DEVIATION_SIGN
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.transcript.view import ScrollExtent
from acp_tui.ui.widgets.select_list import SELECTED_SIGN, draw_row

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events
    from textual.strip import Strip

    from acp_tui.ui.screens.wire.listing import FrameListing
    from acp_tui.wire.frame_log import FrameRow


WHEEL_LINES = 3
RANGE_SIGN, PARTNER_SIGN = "┃", "↔"
DIRECTION_SIGNS = {"sent": "→", "received": "←", "client": "·", "stderr": "!", "log": "·"}
TIME_CELLS, SECONDS_CELLS, SIZE_CELLS, SESSION_CELLS = 12, 7, 6, 6
MIN_NAME_CELLS = 30
"""The width that methods get before the column of the session is shown."""
MAX_NAME_CELLS = 52
DAY = 86_400
"""A smaller time is one since the start of the recording, not since the epoch."""


class Columns(NamedTuple):
    """The widths of the columns that depend on the width of the list. 0: not shown."""

    name: int
    session: int
    summary: int


def columns_at(width: int) -> Columns:
    """Return the columns for a width."""
    room = width - 2 - TIME_CELLS - 1 - 2 - 2 - SECONDS_CELLS - 1 - SIZE_CELLS
    session = SESSION_CELLS + 1 if room - SESSION_CELLS - 1 >= MIN_NAME_CELLS else 0
    name = min(room - session, MAX_NAME_CELLS)
    summary = room - session - name - 2
    return Columns(max(8, name), session, summary if summary >= 16 else 0)


def format_seconds(seconds: float) -> str:
    """Format a short time: `0.4 ms`, `32 ms`, `1.52 s`, `20.2 s`, `2:05`."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def format_elapsed(seconds: float) -> str:
    """Format the time since the first frame: `0:03.214`, `1:02:03.214`."""
    sign = "-" if seconds < 0 else ""
    total = round(abs(seconds) * 1000)
    minutes, milliseconds = divmod(total, 60_000)
    rest = f"{milliseconds // 1000:02}.{milliseconds % 1000:03}"
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02}:{rest}" if hours else f"{sign}{minutes}:{rest}"


def format_moment(at: float, *, with_date: bool = False) -> str:
    """Format a time since the epoch as local time, with milliseconds."""
    seconds, milliseconds = divmod(round(at * 1000), 1000)
    try:
        moment = time.strftime("%Y-%m-%d %H:%M:%S" if with_date else "%H:%M:%S", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):
        return f"{at:.3f}"
    return f"{moment}.{milliseconds:03}"


class FrameList(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the frames of a listing. The screen handles the keys."""

    DEFAULT_CSS = """
    FrameList {
        background: transparent;
        color: $foreground;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        overflow-y: scroll;
    }
    """
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set()

    class Moved(Message):
        """Another frame is at the cursor."""

    def __init__(self, listing: FrameListing) -> None:
        super().__init__()
        self.listing = listing
        self.cursor = 0
        """The index, in the listing, of the frame at the cursor."""
        self.follows = True
        """Whether the cursor stays on the last frame as new ones come."""
        self._place: int | None = None  # of the frame at the cursor; None if there is none yet
        self.range_start: int | None = None
        """The index where the selected range starts; None if only the frame at the cursor is selected."""
        self.absolute_times = False
        self.empty_text = ""
        self._extent = ScrollExtent(self)

    # ------------------------------------------------------------------------- what is shown

    @property
    def row(self) -> FrameRow | None:
        """The frame at the cursor."""
        return self.listing.row(self.cursor) if self.cursor < len(self.listing) else None

    @property
    def selected(self) -> range:
        """The indexes of the selected range, or of the frame at the cursor."""
        if not len(self.listing):
            return range(0)
        start = self.cursor if self.range_start is None else self.range_start
        return range(min(start, self.cursor), max(start, self.cursor) + 1)

    def show_changes(self) -> None:
        """Show the listing after a change. The cursor stays on its frame, or on the last one."""
        last = max(0, len(self.listing) - 1)
        if self.follows or self._place is None:
            cursor, shift = last, 0
        else:
            cursor = max(0, min(self.listing.index_of_place(self._place), last))
            shift = cursor - self.cursor  # frames were added above the visible ones, which stay in place
        self.cursor = cursor
        if self.follows and len(self.listing):
            self._place = self.listing.row(cursor).place
        if self.range_start is not None:
            self.range_start = max(0, min(self.range_start + shift, last))
        self._scroll(self.scroll_offset.y + shift)
        self.refresh()

    def stay_at(self, place: int | None) -> None:
        """Put the cursor on the frame with this `FrameRow.place` as soon as it is listed; None: as it is."""
        self._place, self.follows = self._place if place is None else place, False

    def move_to(self, index: int) -> None:
        """Move the cursor to a frame, which is scrolled into view. At the last one, follow new frames."""
        if len(self.listing):
            self._choose(max(0, min(index, len(self.listing) - 1)))
            self._scroll(self.scroll_offset.y)
            self.refresh()

    def _choose(self, index: int) -> None:
        self.cursor = index
        self.follows = index == len(self.listing) - 1
        self._place = self.listing.row(index).place
        self.post_message(self.Moved())

    def _scroll(self, top: int) -> None:
        """Scroll to a row, or to the nearest one at which the cursor is visible."""
        page, count = max(1, self.size.height), len(self.listing)
        top = max(0, min(max(self.cursor - page + 1, min(top, self.cursor)), count - page))
        self._extent.update(Size(self.size.width, count), top)
        self.scroll_y = self.scroll_target_y = top

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self._scroll(self.scroll_offset.y)
        self.refresh()

    def apply_theme(self) -> None:
        """Draw again in the colours of the new theme."""
        self.refresh()

    # ------------------------------------------------------------------------- the mouse

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll with the mouse wheel: the cursor moves along."""
        event.stop()
        self.move_to(self.cursor - WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll with the mouse wheel: the cursor moves along."""
        event.stop()
        self.move_to(self.cursor + WHEEL_LINES)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked frame."""
        if (index := self.scroll_offset.y + event.y) < len(self.listing):
            self.move_to(index)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw other rows. If the scrollbar was dragged, the cursor moves along."""
        super().watch_scroll_y(old_value, new_value)
        top, page = round(new_value), max(1, self.size.height)
        if len(self.listing) and not top <= self.cursor < top + page:
            self._choose(min(max(top, min(self.cursor, top + page - 1)), len(self.listing) - 1))
        self.refresh()

    # ------------------------------------------------------------------------- drawing

    def on_focus(self) -> None:
        """Draw the cursor as active."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the cursor as inactive."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        index = self.scroll_offset.y + y
        if index >= len(self.listing):
            lines = wrap([Segment(self.empty_text, current_palette().dim)], max(8, width - 4))
            message = [Segment("  "), *lines[y - 1]] if not len(self.listing) and 0 < y <= len(lines) else []
            return draw_row(message, width, base)
        row = self.listing.row(index)
        at_cursor = index == self.cursor
        selected = current_palette().selected if index in self.selected else None
        if at_cursor and not self.has_focus and self.range_start is None:
            selected = None
        sign = self._sign(row, index)
        spans = [sign, *self._cells(row, columns_at(width))]
        return draw_row(spans, width, base, None if selected is None else base + selected)

    def _sign(self, row: FrameRow, index: int) -> Segment:
        palette = current_palette()
        if index == self.cursor:
            return Segment(f"{SELECTED_SIGN} ", palette.key)
        if self.range_start is not None and index in self.selected:
            return Segment(f"{RANGE_SIGN} ", palette.key)
        chosen = self.row
        if chosen is not None and row.number == chosen.partner:
            return Segment(f"{PARTNER_SIGN} ", palette.accent)
        return Segment("  ")

    def _cells(self, row: FrameRow, columns: Columns) -> Spans:
        palette = current_palette()
        sign, look = DIRECTION_SIGNS[row.direction], self._look(row)
        deviates = self.listing.deviates(row.number)
        in_batch = [Segment(" in a batch", palette.dim)] if row.is_in_batch else []
        spans = [
            Segment(f"{self._time(row):>{TIME_CELLS}} ", palette.dim),
            Segment(f"{sign} ", look),
            *_fitted([*self._name_of(row, look), *in_batch], columns.name),
            Segment(f" {DEVIATION_SIGN if deviates else ' '}", palette.error),
            Segment(f"{self._seconds(row):>{SECONDS_CELLS}} ", palette.dim),
            Segment(f"{format_size(row.size):>{SIZE_CELLS}}", palette.dim),
        ]
        if columns.session:
            spans.append(Segment(f" {_end_of(row.session, SESSION_CELLS)}", palette.faint))
        if columns.summary:
            said = shorten(self.listing.summary(row.number), columns.summary)
            spans.append(Segment(f"  {said}", palette.dim))
        return spans

    def _time(self, row: FrameRow) -> str:
        if row.at is None:
            return ""
        start = None if self.absolute_times else self.listing.log.started
        if start is not None:
            return format_elapsed(row.at - start)
        return format_moment(row.at) if row.at > DAY else format_elapsed(row.at)

    def _look(self, row: FrameRow) -> Style:
        palette = current_palette()
        match row.type:
            case "noise" | "stderr":
                return palette.warning
            case "damaged" | "other":
                return palette.error
            case "event" | "note":
                return palette.dim
            case "mcp":
                return palette.tool
        return palette.accent if row.direction == "sent" else palette.success

    def _name_of(self, row: FrameRow, look: Style) -> Spans:
        palette = current_palette()
        match row.type:
            case "request":
                by_hand = [Segment(" by hand", palette.accent)] if row.is_by_hand else []
                return [Segment(row.method, palette.text), Segment(f" #{row.id}", palette.dim), *by_hand]
            case "answer":
                words = f"{row.method} " if row.method else ""
                return [Segment(words, palette.text), Segment(f"answer {_reference(row)}", palette.dim)]
            case "error":
                words = f"{row.method} " if row.method else ""
                return [
                    Segment(words, palette.text),
                    Segment("error", palette.error),
                    Segment(f" {_reference(row)}", palette.dim),
                ]
            case "notification":
                kind = "by hand" if row.is_by_hand else row.kind
                return [Segment(row.method, palette.text), Segment(f" {kind}", palette.dim)]
            case "event" | "mcp":
                return self._with_summary(" ".join(filter(None, (row.method, row.kind))), row, look)
            case "noise":
                return self._with_summary("not JSON", row, look)
            case "stderr":
                return self._with_summary("stderr", row, look)
            case "note":
                return self._with_summary("note", row, look)
            case "damaged":
                return [Segment("damaged line", look)]
        return [Segment("JSON, but no message", look)]

    def _with_summary(self, label: str, row: FrameRow, look: Style) -> Spans:
        return [
            Segment(f"{label} ", look),
            Segment(shorten(self.listing.summary(row.number), MAX_NAME_CELLS), current_palette().dim),
        ]

    def _seconds(self, row: FrameRow) -> str:
        if row.seconds is not None and row.type != "request":
            return format_seconds(row.seconds)
        return "…" if row.type == "request" and row.partner is None else ""


def _reference(row: FrameRow) -> str:
    """Return what an answer refers to: the id of a request, unless its own is null or missing."""
    return f"#{row.id}" if row.id else "to no request"


def _fitted(spans: Spans, width: int) -> Spans:
    """Return the spans in exactly `width` cells."""
    spans = shorten_spans(spans, width)
    return [*spans, Segment(" " * max(0, width - Segment.get_line_length(spans)))]


def _end_of(text: str, width: int) -> str:
    """Return the end of an id, which tells ids apart better than the beginning."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"…{set_cell_size(text[-(width - 1) :], width - 1)}"

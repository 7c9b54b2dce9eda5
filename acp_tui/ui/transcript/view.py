"""The widget that shows a whole conversation, drawn line by line.

A widget per message would make every keystroke slower the longer the conversation is. Here only visible
lines are drawn, and what is visible stays in place when something above it changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import TRANSPARENT, Color
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.ui.drawing.line_style import LineStyle, SearchHighlight, restyle
from acp_tui.ui.terminal.error_containment import guard
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.transcript.entry_layout import Anchor, EntryBlock, EntryLayout

if TYPE_CHECKING:
    from textual import events
    from textual.filter import LineFilter
    from textual.timer import Timer

    from acp_tui.session.record import Change
    from acp_tui.session.state import Entry, Session


LINE_NUMBER_BITS = 20
"""The number of bits for the line number in a selection row, `entry id << LINE_NUMBER_BITS | line`.

Selections in the transcript use such rows instead of screen rows, because scrolling does not change them.
"""
MAX_ENTRY_LINES = 1 << LINE_NUMBER_BITS
"""An upper bound on the number of lines of an entry."""
_WORD = re.compile(r"[\w./~@:%+#=?&-]*\w/?")
"""A word, also a path, an address or an option, without the punctuation after it."""
CURSOR_MARGIN = 1
"""Cells reserved at the left for the cursor bar."""
STRAY_MARK = "┊"
"""Marks entries that came outside a turn, or after the user had stopped the turn."""
MAX_CACHED_LINES = 500
"""The maximum number of painted lines to cache per entry: a few screens."""
MIN_WIDTH = 20
WHEEL_LINES = 3
"""Lines scrolled per notch of the mouse wheel."""
FOLD_CLICK_WIDTH = 6
"""The number of cells at the left of an entry's first line that fold or unfold the entry when clicked."""


class TranscriptView(ScrollView, can_focus=True):
    """Shows the entries of a session."""

    DEFAULT_CSS: ClassVar[str] = """
    TranscriptView {
        height: 1fr;
        background: $background;
        color: $foreground;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        overflow-y: scroll;
    }
    """

    unseen: reactive[int] = reactive(0)
    """The number of lines added since the user scrolled away from the end."""
    cursor: reactive[int | None] = reactive(None)
    """The id of the entry that keys act on; None for the last one."""

    class LinkClicked(Message):
        """The user clicked a link."""

        def __init__(self, link: str) -> None:
            super().__init__()
            self.link = link

    def __init__(self, session: Session, *, cwd: str = "") -> None:
        super().__init__()
        self.entry_layout = EntryLayout(session, cwd)
        """The layout of the entries. Change it through the view only."""
        self.entry_layout.body_replaced = lambda entry_id: self.call_later(self._remeasure, entry_id)
        self._painter = LinePainter(self.entry_layout)
        self.highlight = self._painter.highlight
        """Highlights the matches of the search."""
        self._ticker = HeadlineTicker(self, self.entry_layout)
        self._extent = ScrollExtent(self)
        self._read_marker = ReadMarker()
        self._following = True
        self._cursor_of_focus: int | None = (
            None  # the entry that got the cursor because the view got the focus
        )
        self._own_scroll = False  # the view scrolls, not the user

    # ------------------------------------------------------------------------- what is shown

    def use_session(self, session: Session, cwd: str) -> None:
        """Show the entries of another session."""
        self.entry_layout.session, self.entry_layout.cwd = session, cwd
        self.entry_layout.rebuild()
        self._arrange(None)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.entry_layout.forget()
        self._arrange(self._anchor())

    def use_clock(self, clock: Callable[[], float]) -> None:
        """Use this clock for the durations of running entries."""
        self.entry_layout.clock = clock

    def show_changes(self, changes: Iterable[Change]) -> None:
        """Update the view after these changes of the session. Called once per frame."""
        layout = self.entry_layout
        changed: set[int] = set()
        for change in changes:
            if change.kind == "reset":
                layout.rebuild()
                changed.clear()
                break
            if change.entry is None:
                continue
            index = layout.index_of(change.entry.id)
            if index is None:
                layout.append(change.entry)
            else:
                changed.add(index)
            if (shown_in := layout.index_of_host(change.entry)) is not None:
                changed.add(shown_in)
        anchor = self._anchor()
        for index in changed:
            layout.refresh(index)
        self._arrange(anchor)

    # ------------------------------------------------------------------------- layout

    def on_resize(self) -> None:
        """Wrap lines to the new width and keep the top line in place."""
        anchor = self._anchor()
        width = max(MIN_WIDTH, self.scrollable_content_region.width - CURSOR_MARGIN)
        if width != self.entry_layout.width:
            anchor = self.entry_layout.resize(width, anchor)
        self._arrange(anchor)

    def _anchor(self) -> Anchor | None:
        """Return an anchor for the line at the top of the viewport; None if there are no entries."""
        return self.entry_layout.anchor_at(self.scroll_offset.y)

    def _arrange(self, anchor: Anchor | None) -> None:
        """Update heights after a change. Then show the end if the view follows the end, else the anchor."""
        layout, page = self.entry_layout, self.size.height
        if not layout.width or not page:
            return
        if self._following or anchor is None:
            self._show(layout.settle_end(page))
        else:
            y = layout.settle_screen(anchor, page)
            self._following = y >= layout.total - page  # folding may have made everything fit
            self._show(y)
        if self._following:
            self._read_marker = ReadMarker.at_end(layout)
        self.unseen = self._read_marker.lines_since(layout)
        self._ticker.update()
        self.refresh()

    def _remeasure(self, entry_id: int) -> None:
        """Measure an entry again, because its body could not be drawn and was replaced."""
        anchor = self._anchor()
        self.entry_layout.remeasure(entry_id)
        self._arrange(anchor)

    @property
    def ticking(self) -> bool:
        """True while running entries are redrawn every second."""
        return self._ticker.running

    # ------------------------------------------------------------------------- scrolling

    @property
    def following(self) -> bool:
        """True while the view follows the end."""
        return self._following

    def follow(self) -> None:
        """Scroll to the end and follow new lines."""
        self._following = True
        self._arrange(None)

    def scroll_lines(self, lines: int) -> None:
        """Scroll by this number of lines; negative is up."""
        if lines < 0:
            self._show(self.entry_layout.settle_above(self.scroll_offset.y, -lines))
        self._jump(self.scroll_offset.y + lines)

    def scroll_to_entry(self, entry_id: int, line: int = 0) -> None:
        """Scroll a line of an entry into view unless the line is visible already, above the last row."""
        index = self.entry_layout.index_of(entry_id)
        if index is None:
            return
        self.entry_layout.settle_lines(index, line, line + self.size.height)
        y = self.entry_layout.heights.top(index) + self.entry_layout.blocks[index].gap + line
        top = self.scroll_offset.y
        if not top <= y < top + self.size.height - 1:
            self._jump(max(0, y - self.size.height // 4))

    def scroll_to_top(self, entry_id: int | None) -> None:
        """Scroll an entry to the top of the viewport, or as far up as the end of the transcript allows."""
        index = self.entry_layout.index_of(entry_id)
        if index is not None:
            self.entry_layout.settle_lines(index, 0, self.size.height)
            self._jump(self.entry_layout.heights.top(index) + self.entry_layout.blocks[index].gap)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Measure the entries that the user scrolled to. Follow the end if the user has reached it."""
        if not self._own_scroll and round(old_value) != round(new_value) and len(self.entry_layout):
            y = round(new_value)
            self._following = y >= self.entry_layout.total - self.size.height
            self._arrange(self.entry_layout.anchor_at(y))
        super().watch_scroll_y(old_value, new_value)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll with the mouse wheel."""
        event.stop()
        event.prevent_default()
        self.scroll_lines(-WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll with the mouse wheel."""
        event.stop()
        event.prevent_default()
        self.scroll_lines(WHEEL_LINES)

    def _show(self, y: int) -> None:
        """Scroll to row `y`, without treating that as scrolling by the user."""
        self._own_scroll = True
        try:
            self._update_extent(y)
            self.scroll_y = self.scroll_target_y = y
        finally:
            self._own_scroll = False

    def _jump(self, y: int) -> None:
        self._update_extent(self.scroll_offset.y)
        self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def _update_extent(self, y: int) -> None:
        self._extent.update(Size(self.entry_layout.width + CURSOR_MARGIN, self.entry_layout.total), y)

    # ------------------------------------------------------------------------- folding

    def toggle_fold(self, entry_id: int | None) -> None:
        """Fold or unfold one entry."""
        index = self.entry_layout.index_of(entry_id)
        if index is not None:
            anchor = self._anchor()
            self.entry_layout.toggle_fold(index)
            self._arrange(anchor)

    def toggle_kind(self, kind: type[Entry]) -> None:
        """Fold or unfold all entries of a kind."""
        anchor = self._anchor()
        self.entry_layout.toggle_kind(kind)
        self._arrange(anchor)

    def toggle_all(self) -> None:
        """Fold or unfold all foldable entries."""
        anchor = self._anchor()
        self.entry_layout.toggle_all()
        self._arrange(anchor)

    # ------------------------------------------------------------------------- one entry

    def entry(self, entry_id: int | None) -> Entry | None:
        """Return the entry with this id; None if the transcript does not show such an entry."""
        index = self.entry_layout.index_of(entry_id)
        return self.entry_layout.blocks[index].entry if index is not None else None

    def lines_with(self, entry_id: int, needle: str) -> list[int]:
        """Return the numbers of an entry's drawn lines that contain `needle`, ignoring case.

        `needle` must be in lower case.
        """
        index = self.entry_layout.index_of(entry_id)
        if index is None:
            return []
        self.entry_layout.settle_lines(index, 0, MAX_ENTRY_LINES)
        body = self.entry_layout.settle(index)
        return [line for line in range(body.height) if needle in body.line(line).text.lower()]

    @property
    def current_id(self) -> int | None:
        """The id of the entry that keys act on: the one at the cursor, else the last one in the viewport."""
        if self.entry(self.cursor) is not None:
            return self.cursor
        row = min(self.scroll_offset.y + self.size.height, self.entry_layout.total) - 1
        if row < 0 or not len(self.entry_layout):
            return None
        return self.entry_layout.blocks[self.entry_layout.heights.at(row)[0]].entry.id

    def copy_text(self, entry_id: int) -> str:
        """Return the source text of an entry."""
        index = self.entry_layout.index_of(entry_id)
        return self.entry_layout.settle(index).copy_text() if index is not None else ""

    def watch_cursor(self, old: int | None, new: int | None) -> None:
        """Redraw the entries that the cursor left and entered."""
        for entry_id in (old, new):
            index = self.entry_layout.index_of(entry_id)
            if index is not None:
                self.entry_layout.blocks[index].painted.clear()
        self.refresh()

    def on_focus(self) -> None:
        """Show the cursor bar, at once also if the cursor is nowhere yet."""
        if self.cursor is None:
            self.cursor = self._cursor_of_focus = self.current_id
        self.watch_cursor(None, self.cursor)

    def on_blur(self) -> None:
        """Hide the cursor bar. A cursor that was not moved is forgotten: keys act on the last entry again."""
        if self.cursor == self._cursor_of_focus:
            self.cursor = None
        self._cursor_of_focus = None
        self.watch_cursor(None, self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Open the clicked link, or fold or unfold the entry if the start of its first line was clicked.

        A double click selects the word, a triple click the line. Textual would select the whole conversation.
        """
        if event.chain > 1:
            event.prevent_default()
            self._select_at(event.x, event.y, whole_line=event.chain > 2)
            return
        if (link := event.style.meta.get("link")) is not None:
            event.stop()
            self.post_message(self.LinkClicked(str(link)))
            return
        row = self.scroll_offset.y + event.y
        if row >= self.entry_layout.total or self.screen.selections:
            return
        index, line = self.entry_layout.heights.at(row)
        block = self.entry_layout.blocks[index]
        if line == block.gap and event.x < FOLD_CLICK_WIDTH:
            self.toggle_fold(block.entry.id)

    def _select_at(self, x: int, y: int, *, whole_line: bool) -> None:
        """Select the word or the drawn line at a position in the viewport; nothing if there is no text."""
        row = self.scroll_offset.y + y
        if row >= self.entry_layout.total:
            return
        index, line = self.entry_layout.heights.at(row)
        block = self.entry_layout.blocks[index]
        line -= block.gap
        if block.body is None or not 0 <= line < block.body.height:
            return
        text = block.body.line(line).text
        span = text_span(text) if whole_line else word_span(text, x - CURSOR_MARGIN)
        if span is not None:
            ends = (Offset(CURSOR_MARGIN + end, selection_row(block, line)) for end in span)
            self.screen.selections = {self: Selection(*ends)}

    # ------------------------------------------------------------------------- painting

    def render_line(self, y: int) -> Strip:
        """Paint one line of the viewport."""
        return self._paint([y])[0]

    @guard
    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint the lines of a region.

        Overrides Textual's method, which works out borders, padding and opacity for every line of every
        frame. The transcript uses none of the three.
        """
        strips = self._paint(crop.line_range)
        line_style = self._painter.line_style
        if crop.column_span == (0, line_style.width):
            return strips
        return [strip.crop_extend(*crop.column_span, line_style.style) for strip in strips]

    def _paint(self, lines: Iterable[int]) -> list[Strip]:
        painter, top, selection = self._painter, self.scroll_offset.y, self.text_selection
        painter.use(self.rich_style, self.size.width, self.background_colors[1], self.get_line_filters())
        painter.cursor = self.cursor if self.has_focus else None
        style = Style()
        if selection is not None:
            style = self.screen.get_component_rich_style("screen--selection")
        return [painter.line(top + y, selection, style) for y in lines]

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as drawn, without the margin, and the line end that follows the text."""
        if not len(self.entry_layout):
            return None
        return "\n".join(selected_lines(self.entry_layout, selection, CURSOR_MARGIN)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002  # Textual's signature
        """Redraw with the new selection."""
        self.refresh()


def selection_row(block: EntryBlock, line: int) -> int:
    """Return the number that stands for a line of an entry in a selection (see `LINE_NUMBER_BITS`)."""
    return (block.entry.id << LINE_NUMBER_BITS) + line


def selected_lines(layout: EntryLayout, selection: Selection, margin: int) -> list[str]:
    """Return the lines of the selected text as drawn, without the `margin` cells at the left."""
    blocks = layout.blocks
    if not blocks:
        return []
    first = selection.start.y >> LINE_NUMBER_BITS if selection.start is not None else blocks[0].entry.id
    last = selection.end.y >> LINE_NUMBER_BITS if selection.end is not None else blocks[-1].entry.id
    lines: list[str] = []
    for index in range(layout.index_of(first) or 0, len(blocks)):
        block = blocks[index]
        if block.entry.id > last:
            break
        layout.settle_lines(index, 0, MAX_ENTRY_LINES)
        lines += [""] * (block.gap if lines and layout.heights[index] else 0)
        lines += _selected_in(block, selection, margin)
    return lines


def _selected_in(block: EntryBlock, selection: Selection, margin: int) -> list[str]:
    assert block.body is not None
    lines: list[str] = []
    for line in range(block.body.height):
        span = selection.get_span(selection_row(block, line))
        if span is not None:
            start, end = max(0, span[0] - margin), span[1] - margin if span[1] != -1 else None
            lines.append(block.body.line(line).text[start:end].rstrip())
    return lines


def word_span(text: str, cell: int) -> tuple[int, int] | None:
    """Return the start and the end of the word at a cell of a line; None if there is no word."""
    for found in _WORD.finditer(text):
        start = cell_len(text[: found.start()])
        if start <= cell < start + cell_len(found[0]):
            return found.span()
    return None


def text_span(text: str) -> tuple[int, int] | None:
    """Return the start and the end of a line's text, without the space around it; None if it is empty."""
    stripped = text.strip()
    start = len(text) - len(text.lstrip())
    return (start, start + len(stripped)) if stripped else None


class HeadlineTicker:
    """Redraws the first lines of running entries every second, as long as any of these lines is visible."""

    def __init__(self, view: ScrollView, layout: EntryLayout) -> None:
        self._view = view
        self._layout = layout
        self._timer: Timer | None = None

    @property
    def running(self) -> bool:
        """True while the timer runs."""
        return self._timer is not None

    def update(self) -> None:
        """Start the timer if the first line of a running entry is visible; otherwise stop the timer.

        Without a clock, the timer does not run. Must be called whenever the visible lines have changed.
        """
        needed = self._layout.clock is not None and bool(self._rows())
        if needed and self._timer is None:
            self._timer = self._view.set_interval(1, self._tick)
        elif not needed and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _tick(self) -> None:
        top, width = self._view.scroll_offset.y, self._view.size.width
        self._view.refresh(*(Region(0, row - top, width, 1) for row in self._rows()))

    def _rows(self) -> list[int]:
        return self._layout.running(self._view.scroll_offset.y, self._view.size.height)


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
            strip = self.highlight.apply(strip, block.entry.id, line)
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
        palette = current_palette()
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


@dataclass(frozen=True, slots=True)
class ReadMarker:
    """Where the conversation ended when the user last saw its end."""

    entries: int = 0
    version: int = 0  # of the last entry
    height: int = 0  # of the last entry

    @classmethod
    def at_end(cls, layout: EntryLayout) -> ReadMarker:
        """Return a marker at the current end."""
        if not layout.blocks:
            return cls()
        return cls(len(layout), layout.blocks[-1].entry.version, layout.heights[len(layout) - 1])

    def lines_since(self, layout: EntryLayout) -> int:
        """Return the number of lines added after the marker.

        Counts the lines of new entries, and the lines added to the entry at the marker. If only the height
        of the entry at the marker has changed, by unfolding or resizing, the entry is not counted.
        """
        if len(layout) < self.entries:
            return 0
        lines = layout.total - layout.heights.top(self.entries)
        if self.entries:
            last = self.entries - 1
            if layout.blocks[last].entry.version != self.version:
                lines += max(0, layout.heights[last] - self.height)
        return lines


class ScrollExtent:
    """Updates the scrollable height of a view.

    Assigning Textual's `virtual_size` instead would lay out the whole screen again in every frame. Painting
    the scrollbar takes longer than painting a page of text, so the scrollbar is painted only if its thumb has
    changed.
    """

    def __init__(self, view: ScrollView) -> None:
        self._view = view
        self._thumb = (0, 0)  # as it was last painted

    def update(self, size: Size, y: int) -> None:
        """Set the size of the content and the row at the top of the viewport."""
        view, scrollbar = self._view, self._view.vertical_scrollbar
        page = view.size.height
        view.set_reactive(ScrollView.virtual_size, size)
        scrollbar.set_reactive(ScrollBar.window_virtual_size, size.height)
        scrollbar.set_reactive(ScrollBar.window_size, page)
        scrollbar.set_reactive(ScrollBar.position, y)
        thumb = thumb_span(size.height, page, y)
        if thumb != self._thumb:
            self._thumb = thumb
            scrollbar.refresh()


def thumb_span(total: int, page: int, y: int) -> tuple[int, int]:
    """Return the start and end of the scrollbar's thumb in eighths of a cell; 0, 0 if everything fits."""
    if page >= total:
        return 0, 0
    length = max(1.0, page * page / total)
    first = int((page - length) * y / (total - page) * 8)
    return first, first + math.ceil(length * 8)

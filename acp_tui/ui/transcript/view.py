"""The widget that shows a whole conversation, drawn line by line.

A widget per message would make every keystroke slower the longer the conversation is. Here only visible
lines are drawn, and what is visible stays in place when something above it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection

from acp_tui.ui.terminal.error_containment import guard
from acp_tui.ui.transcript.entry_layout import EntryLayout
from acp_tui.ui.transcript.headline_ticker import HeadlineTicker
from acp_tui.ui.transcript.line_painter import CURSOR_MARGIN, LinePainter
from acp_tui.ui.transcript.read_marker import ReadMarker
from acp_tui.ui.transcript.scroll_extent import ScrollExtent
from acp_tui.ui.transcript.selection import (
    MAX_ENTRY_LINES,
    selected_lines,
    selection_row,
    text_span,
    word_span,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual import events
    from textual.geometry import Region
    from textual.strip import Strip

    from acp_tui.session.change import Change
    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.transcript.anchor import Anchor

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

    def __init__(self, session: Session, palette: Palette, *, cwd: str = "") -> None:
        super().__init__()
        self.entry_layout = EntryLayout(session, palette, cwd)
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

    def use_palette(self, palette: Palette) -> None:
        """Redraw everything with the palette of a new theme."""
        self.entry_layout.palette = palette
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

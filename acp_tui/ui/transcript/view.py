"""The transcript: a whole conversation in one widget, drawn line by line.

A widget for each message makes every keystroke slower the longer the conversation is. Here only the lines on
the screen are ever drawn, and what is on the screen stays where it is when something above it changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.color import TRANSPARENT
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.ui.drawing.line_style import LineStyle
from acp_tui.ui.drawing.search_highlight import SearchHighlight, restyle
from acp_tui.ui.terminal.error_containment import guard
from acp_tui.ui.transcript.entry_layout import EntryLayout
from acp_tui.ui.transcript.read_marker import ReadMarker
from acp_tui.ui.transcript.selection import MAX_ENTRY_LINES, selected_lines, selection_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual import events
    from textual.selection import Selection
    from textual.timer import Timer

    from acp_tui.session.change import Change
    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.transcript.anchor import Anchor
    from acp_tui.ui.transcript.entry_block import EntryBlock

CURSOR_MARGIN = 1
"""Cells reserved at the left for the cursor bar."""
MIN_WIDTH = 20
WHEEL_LINES = 3
"""Lines scrolled per notch of the mouse wheel."""
FOLD_CLICK_WIDTH = 6
"""A click on this many cells at the left of an entry's first line folds it."""
MAX_CACHED_LINES = 500
"""Drawn lines kept per entry: a few screens."""


def scrollbar_thumb(total: int, page: int, y: int) -> tuple[int, int]:
    """The start and end of the scrollbar's thumb, in eighths of a cell."""
    if page >= total:
        return 0, 0
    length = max(1.0, page * page / total)
    first = int((page - length) * y / (total - page) * 8)
    return first, first + math.ceil(length * 8)


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
    """New lines below the viewport since the user scrolled away from the end."""
    cursor: reactive[int | None] = reactive(None)
    """The id of the entry that keys act on."""

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
        self.marking = SearchHighlight()
        """Highlights the matches of the search."""
        self._following = True
        self._seen = ReadMarker()
        self._moving = False  # we scroll, not the user
        self._ticker: Timer | None = None
        self._thumb = (0, 0)  # of the scrollbar, as it was painted
        self._look = LineStyle(Style(), 0, TRANSPARENT, [])

    def use_session(self, session: Session, cwd: str) -> None:
        """Show this session from the beginning."""
        self.entry_layout.session, self.entry_layout.cwd = session, cwd
        self.entry_layout.rebuild()
        self._arrange(None)

    # ------------------------------------------------------------------------- what happens

    def take(self, changes: Iterable[Change]) -> None:
        """Apply changes of the session. Called once per frame."""
        touched: set[int] = set()
        for change in changes:
            if change.kind == "reset":
                self.entry_layout.rebuild()
                touched.clear()
                break
            if change.entry is None:
                continue
            place = self.entry_layout.place_of(change.entry.id)
            if place is None:
                self.entry_layout.append(change.entry)
            else:
                touched.add(place)
            if (shown_in := self.entry_layout.place_of_host(change.entry)) is not None:
                touched.add(shown_in)
        anchor = self._anchor()
        for place in touched:
            self.entry_layout.refresh(place)
        self._arrange(anchor)

    def use_palette(self, palette: Palette) -> None:
        """Redraw all with the palette of a new theme."""
        self.entry_layout.palette = palette
        self.entry_layout.forget()
        self._arrange(self._anchor())

    def on_resize(self) -> None:
        """Wrap lines to the new width, keeping the top line in place."""
        anchor = self._anchor()
        width = max(MIN_WIDTH, self.scrollable_content_region.width - CURSOR_MARGIN)
        if width != self.entry_layout.width:
            anchor = self.entry_layout.resize(width, anchor)
        self._arrange(anchor)

    def _anchor(self) -> Anchor | None:
        """The line at the top of the viewport."""
        return self.entry_layout.anchor_at(self.scroll_offset.y)

    def _arrange(self, anchor: Anchor | None) -> None:
        """Update heights after a change and keep the anchor in place, or follow the end."""
        page = self.size.height
        if not self.entry_layout.width or not page:
            return
        if self._following or anchor is None:
            self._show(self.entry_layout.settle_end(page))
        else:
            y = self.entry_layout.settle_screen(anchor, page)
            self._following = (
                y >= self.entry_layout.total - page
            )  # also when so much was folded that all is seen
            self._show(y)
        if self._following:
            self._seen = ReadMarker.all_of(self.entry_layout)
        self.unseen = self._seen.lines_since(self.entry_layout)
        self._tick_while_needed()
        self.refresh()

    def _remeasure(self, entry_id: int) -> None:
        """Measure an entry again whose body was replaced because drawing failed."""
        anchor = self._anchor()
        self.entry_layout.remeasure(entry_id)
        self._arrange(anchor)

    def use_clock(self, clock: Callable[[], float]) -> None:
        """Use this clock for the duration of running entries."""
        self.entry_layout.clock = clock

    @property
    def ticking(self) -> bool:
        """True while running entries are redrawn every second."""
        return self._ticker is not None

    def _tick_while_needed(self) -> None:
        """Run the timer only while a running entry is visible."""
        needed = self.entry_layout.clock is not None and bool(self._running_rows())
        if needed and self._ticker is None:
            self._ticker = self.set_interval(1, self._tick)
        elif not needed and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def _tick(self) -> None:
        """Redraw only the headlines of running entries."""
        rows = self._running_rows()
        self.refresh(*(Region(0, row - self.scroll_offset.y, self.size.width, 1) for row in rows))

    def _running_rows(self) -> list[int]:
        return self.entry_layout.running(self.scroll_offset.y, self.size.height)

    def _show(self, y: int) -> None:
        """Scroll without treating it as scrolling by the user."""
        self._moving = True
        try:
            self._measure(y)
            self.scroll_y = self.scroll_target_y = y
        finally:
            self._moving = False

    def _measure(self, y: int) -> None:
        """Tell the height of all, and where it is seen.

        Setting `virtual_size` would lay out the whole screen anew, every frame; and the scrollbar, which
        takes longer to paint than the page, is painted only when it looks otherwise.
        """
        total, page = self.entry_layout.total, self.size.height
        self.set_reactive(TranscriptView.virtual_size, Size(self.entry_layout.width + CURSOR_MARGIN, total))
        scrollbar = self.vertical_scrollbar
        scrollbar.set_reactive(ScrollBar.window_virtual_size, total)
        scrollbar.set_reactive(ScrollBar.window_size, page)
        scrollbar.set_reactive(ScrollBar.position, y)
        if (thumb := scrollbar_thumb(total, page, y)) != self._thumb:
            self._thumb = thumb
            scrollbar.refresh()

    # ------------------------------------------------------------------------- scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Settle the lines that the user scrolled to, and follow the end if it was reached."""
        if not self._moving and round(old_value) != round(new_value) and len(self.entry_layout):
            y = round(new_value)
            self._following = y >= self.entry_layout.total - self.size.height
            self._arrange(self.entry_layout.anchor_at(y))
        super().watch_scroll_y(old_value, new_value)

    def scroll_lines(self, lines: int) -> None:
        """Scroll up (negative) or down."""
        if lines < 0:
            self._show(self.entry_layout.settle_above(self.scroll_offset.y, -lines))
        self._jump(self.scroll_offset.y + lines)

    def follow(self) -> None:
        """Scroll to the end and follow new lines."""
        self._following = True
        self._arrange(None)

    @property
    def following(self) -> bool:
        """True while the view follows the end."""
        return self._following

    def scroll_to_entry(self, entry_id: int, line: int = 0) -> None:
        """Scroll a line of an entry into view unless it is visible already."""
        place = self.entry_layout.place_of(entry_id)
        if place is None:
            return
        self.entry_layout.settle_lines(place, line, line + self.size.height)
        y = self.entry_layout.heights.top(place) + self.entry_layout.blocks[place].gap + line
        first = self.scroll_offset.y
        if not first <= y < first + self.size.height - 1:
            self._jump(max(0, y - self.size.height // 4))

    def _jump(self, y: int) -> None:
        self._measure(self.scroll_offset.y)
        self.scroll_to(y=y, animate=False, force=True, immediate=True)

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

    # ------------------------------------------------------------------------- folding

    def toggle_fold(self, entry_id: int | None) -> None:
        """Fold or unfold one entry."""
        place = self.entry_layout.place_of(entry_id)
        if place is not None:
            anchor = self._anchor()
            self.entry_layout.toggle_fold(place)
            self._arrange(anchor)

    def toggle_kind(self, kind: type[Entry]) -> None:
        """Fold or unfold all entries of a kind."""
        anchor = self._anchor()
        self.entry_layout.toggle_kind(kind)
        self._arrange(anchor)

    def toggle_all(self) -> None:
        """Fold or unfold everything that folds."""
        anchor = self._anchor()
        self.entry_layout.toggle_all()
        self._arrange(anchor)

    # ------------------------------------------------------------------------- the cursor

    def entry(self, entry_id: int | None) -> Entry | None:
        """The entry with this id, if shown."""
        place = self.entry_layout.place_of(entry_id)
        return self.entry_layout.blocks[place].entry if place is not None else None

    def lines_with(self, entry_id: int, needle: str) -> list[int]:
        """The numbers of the drawn lines of an entry that contain `needle` (lower case)."""
        place = self.entry_layout.place_of(entry_id)
        if place is None:
            return []
        self.entry_layout.settle_lines(place, 0, MAX_ENTRY_LINES)
        body = self.entry_layout.settle(place)
        return [line for line in range(body.height) if needle in body.line(line).text.lower()]

    def copy_text(self, entry_id: int) -> str:
        """The source text of an entry."""
        place = self.entry_layout.place_of(entry_id)
        return self.entry_layout.settle(place).copy_text() if place is not None else ""

    def watch_cursor(self, old: int | None, new: int | None) -> None:
        """Redraw the entries that the cursor left and entered."""
        for entry_id in (old, new):
            place = self.entry_layout.place_of(entry_id)
            if place is not None:
                self.entry_layout.blocks[place].drawn.clear()
        self.refresh()

    def on_focus(self) -> None:
        """Show the cursor bar."""
        self.watch_cursor(None, self.cursor)

    def on_blur(self) -> None:
        """Hide the cursor bar."""
        self.watch_cursor(None, self.cursor)

    # ------------------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport."""
        self._look_again()
        return self._line(y)

    @guard
    def render_lines(self, crop: Region) -> list[Strip]:
        """All that is to be painted.

        Textual would work out borders, paddings and opacities for each line of each frame; a page has none.
        """
        self._look_again()
        strips = [self._line(y) for y in crop.line_range]
        if crop.column_span == (0, self._look.width):
            return strips
        return [strip.crop_extend(*crop.column_span, self._look.style) for strip in strips]

    def _look_again(self) -> None:
        """Drop all drawn lines if the style, width or colour filters have changed."""
        made_of = self.rich_style, self.size.width, self.background_colors[1], self.get_line_filters()
        if not self._look.is_of(*made_of):
            self._look = LineStyle(*made_of)
            for block in self.entry_layout.blocks:
                block.drawn.clear()

    def _line(self, y: int) -> Strip:
        look = self._look
        row = self.scroll_offset.y + y
        if row >= self.entry_layout.total or not self.entry_layout.width:
            return look.blank
        place, line = self.entry_layout.heights.at(row)
        block = self.entry_layout.blocks[place]
        line -= block.gap
        if line < 0 or block.body is None or line >= block.body.height:
            return look.blank
        strip = self._drawn(block, line)
        selection = self.text_selection
        if selection is None and not self.marking.needle:
            return strip
        if self.marking.needle:
            strip = self.marking.laid_over(strip, block.entry.id, line, self.entry_layout.palette)
        if selection is not None:
            strip = self._with_selection(strip, selection, selection_row(block, line))
        return look.filtered(strip.apply_offsets(0, selection_row(block, line)))

    def _drawn(self, block: EntryBlock, line: int) -> Strip:
        """A line with its margin and colour filters applied, cached per source line."""
        assert block.body is not None
        source = block.body.line(line)
        known = block.drawn.get(line)
        if known is not None and known[0] is source:
            return known[1]
        if len(block.drawn) >= MAX_CACHED_LINES:  # a long message that runs through the screen
            block.drawn.clear()
        look = self._look
        strip = look.spread(self._with_margin(block, source)).apply_offsets(0, selection_row(block, line))
        strip = look.filtered(strip)
        block.drawn[line] = source, strip
        return strip

    def _with_margin(self, block: EntryBlock, strip: Strip) -> Strip:
        palette = self.entry_layout.palette
        if block.entry.withdrawn and kind_of(block.entry).dims_when_withdrawn:
            strip = Strip(
                [Segment(text, (own or palette.text) + palette.withdrawn) for text, own, _ in strip]
            )
        on_cursor = self.cursor == block.entry.id and self.has_focus
        return Strip([Segment("▎" if on_cursor else " ", palette.cursor), *strip])

    def _with_selection(self, strip: Strip, selection: Selection, anchor: int) -> Strip:
        span = selection.get_span(anchor)
        if span is None:
            return strip
        start, end = max(CURSOR_MARGIN, span[0]), span[1]
        if end == -1:
            end = len(strip.text.rstrip())
        if end <= start:
            return strip
        return restyle(strip, start, end, self.screen.get_component_rich_style("screen--selection"))

    # ------------------------------------------------------------------------- selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as drawn, without the margin."""
        if not len(self.entry_layout):
            return None
        return "\n".join(selected_lines(self.entry_layout, selection, CURSOR_MARGIN)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002  # Textual's signature
        """Redraw with the new selection."""
        self.refresh()

    # ------------------------------------------------------------------------- the mouse

    def on_click(self, event: events.Click) -> None:
        """Open the clicked link, or fold the entry whose first line was clicked."""
        if (link := event.style.meta.get("link")) is not None:
            event.stop()
            self.post_message(self.LinkClicked(str(link)))
            return
        row = self.scroll_offset.y + event.y
        if row >= self.entry_layout.total or self.screen.selections:
            return
        place, line = self.entry_layout.heights.at(row)
        block = self.entry_layout.blocks[place]
        if line == block.gap and event.x < FOLD_CLICK_WIDTH:
            self.toggle_fold(block.entry.id)

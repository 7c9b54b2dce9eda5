"""The wire screen: the frames of a session as they come, and the chosen one as JSON."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.segment import Segment
from textual import on
from textual.containers import Container, Vertical

from acp_tui.console import format_size, pluralize
from acp_tui.errors import UserError, os_errors_reported
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.text_format import display_path
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import BaseScreen, TabState
from acp_tui.ui.dialogs.rename_dialog import RenameDialog
from acp_tui.ui.screens.wire.filter_line import FilterLine
from acp_tui.ui.screens.wire.frame_list import (
    DAY,
    FrameList,
    format_elapsed,
    format_moment,
    format_seconds,
)
from acp_tui.ui.screens.wire.json_view import DEVIATION_SIGN, JsonTree, JsonView, field_text
from acp_tui.ui.screens.wire.listing import FrameListing
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.wire.frame_filter import parse_filter
from acp_tui.wire.frame_log import FrameLog

if TYPE_CHECKING:
    from textual.app import App, ComposeResult

    from acp_tui.ui.screens.wire.entry_finder import EntryFinder
    from acp_tui.wire.entry_frames import EntryFrames, EntryPlace
    from acp_tui.wire.frame_filter import FrameFilter
    from acp_tui.wire.frame_log import FrameRow


POLL_SECONDS = 0.1
"""Seconds between two looks at the log for new frames."""
WORK_SECONDS = 0.005
"""Seconds of indexing and filtering before keys are handled again."""
PAUSE_SECONDS = 0.004
DRAW_SECONDS = 0.1
"""The minimum number of seconds between two drawings of what comes in."""
MIN_BESIDE_CELLS = 110
"""From this width on, the JSON is shown beside the list; below it otherwise."""
MAX_DECODED_BYTES = 8_000_000
"""Of a larger frame, only the beginning is shown, as text."""
MAX_SHOWN_BYTES = 64 * 1024
MAX_COPIED_BYTES = 50_000_000
ROWS_PER_STEP = 500
NOT_RECORDED = "This session is not recorded (--no-log), so there are no messages to show."


class FrameSelection(NamedTuple):
    """The only frames to list: those that made a part of the transcript."""

    label: str  # what they made, for the title
    frames: Callable[[EntryFrames], Collection[int]]
    """Returns the frames by their `FrameRow.place`."""


@dataclass(frozen=True, slots=True)
class WireContext:
    """The log to show, and what belongs to it."""

    path: Path
    title: str  # safe to display
    folder: str = ""  # to which paths of saved files are relative
    finder: EntryFinder | None = None  # None if there is no transcript
    show_entry: Callable[[EntryPlace], None] | None = None
    """Shows an entry of the transcript, once the wire screen is closed."""
    new_message: Callable[[], Callable[[], None] | None] = lambda: None
    """Returns what opens the dialog that sends a message by hand; None while there is no agent for it."""


class WireScreen(BaseScreen):
    """Lists the frames of a log, and shows the one at the cursor. Follows the log while it is open."""

    BINDINGS: ClassVar = keys.bindings("wire")
    DEFAULT_CSS = """
    WireScreen { background: $background; layout: vertical; }
    WireScreen #head { background: $surface; padding: 0 1; }
    WireScreen #parts { height: 1fr; layout: vertical; }
    WireScreen FrameList { height: 1fr; width: 1fr; }
    WireScreen #page { height: 1fr; width: 1fr; }
    WireScreen #title { background: $surface; padding: 0 1; }
    WireScreen JsonView { height: 1fr; padding: 0 0 0 1; }
    WireScreen #parts.beside { layout: horizontal; }
    WireScreen #parts.beside FrameList { width: 3fr; height: 100%; }
    WireScreen #parts.beside #page { width: 2fr; height: 100%; border-left: solid $foreground 20%; }
    WireScreen #parts.zoomed FrameList { display: none; }
    WireScreen #parts.zoomed #page { width: 1fr; border-left: none; }
    """
    AUTO_FOCUS = "FrameList"

    def __init__(
        self, context: WireContext, only: FrameSelection | None = None, *, frame_filter: str = ""
    ) -> None:
        """Create the screen. Raises `UserError` if the log cannot be read.

        Args:
            context: The log to show.
            only: The frames to list; None for all.
            frame_filter: The filter at first, as the user would type it. Raises `UserError` if it is wrong.
        """
        super().__init__()
        parse_filter(frame_filter)
        self.context = context
        self._only = only
        self._first_filter = frame_filter
        with os_errors_reported(f"Cannot read {display_path(str(context.path))}"):
            self._log = FrameLog(context.path)
        self.listing = FrameListing(self._log)
        self._shown: object = None  # what the JSON view shows
        self._undrawn = False
        self._draw_at = 0.0  # not earlier than then, unless the user does something
        self._hides_mcp = False
        self._typed_filter: FrameFilter | None = None
        self._matched_count = -1
        self._had_agent = context.new_message() is not None  # when the footer was drawn
        self.tab_state = TabState(title=context.title)

    def compose(self) -> ComposeResult:
        yield Bar([], id="head")
        yield FilterLine(self._log.values)
        with Container(id="parts"):
            yield FrameList(self.listing)
            with Vertical(id="page"):
                yield Bar([], id="title")
                yield JsonView()
        yield KeyBar()

    def on_mount(self) -> None:
        """Start to follow the log."""
        self._fit()
        if self._first_filter:
            self.query_one(FilterLine).text = self._first_filter
        if self._only is not None:
            self._select()
        self._show_changes()
        self.call_after_refresh(self._show_changes)  # once the list knows its size
        self.run_worker(self._follow(), group="follow")

    def on_unmount(self) -> None:
        """Close the log, which saves its index."""
        self._log.close()

    def on_resize(self) -> None:
        """Put the JSON beside the list, or below it."""
        self._fit()

    def _fit(self) -> None:
        self._parts.set_class(self.app.size.width >= MIN_BESIDE_CELLS, "beside")

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._shown = None
        self._show_head()
        self._show_frame()

    @property
    def frames(self) -> FrameList:
        """The list."""
        return self.query_one(FrameList)

    @property
    def view(self) -> JsonView:
        """The JSON of the frame at the cursor."""
        return self.query_one(JsonView)

    @property
    def _parts(self) -> Container:
        return self.query_one("#parts", Container)

    @property
    def _on_page(self) -> bool:
        return self.focused is self.view

    # ------------------------------------------------------------------------- following the log

    async def _follow(self) -> None:
        """Read the log, and search in it, as long as the screen is open."""
        try:
            while self.is_attached:
                busy = False
                if self.is_in_front:
                    with os_errors_reported(f"Cannot read {display_path(str(self.context.path))}"):
                        busy = await self._work()
                await asyncio.sleep(PAUSE_SECONDS if busy else POLL_SECONDS)
        except UserError as error:
            self.notify_error(error)

    async def _work(self) -> bool:
        """Do a part of the work, and show the result. Return True if there is more to do."""
        until = time.monotonic() + WORK_SECONDS
        changed = self.listing.update()
        busy = not self._log.is_complete
        while self.listing.is_scanning and time.monotonic() < until:
            self.listing.scan()
            changed = True
        if self._only is not None and not busy:
            changed |= await self._find_selected()
        busy = busy or self.listing.is_scanning
        self._undrawn |= changed or busy
        if self._undrawn and (not busy or time.monotonic() >= self._draw_at):
            self._undrawn, self._draw_at = False, time.monotonic() + DRAW_SECONDS
            self._show_changes()
        while not busy and self.listing.has_unchecked and time.monotonic() < until:
            if self.listing.check():
                self.frames.refresh()
        return busy or self.listing.has_unchecked

    async def _find_selected(self) -> bool:
        """List the frames that made the entry, as far as they are known. Return True if any are new."""
        if (finder := self.context.finder) is None or self._only is None:
            return False
        if await finder.catch_up(self._log) or self._matched_count < 0:
            count = len(self._only.frames(finder.frames))
            if count != self._matched_count:
                self._matched_count = count
                self._select()
                return True
        return False

    def _show_changes(self) -> None:
        """Show the frames that are listed now."""
        if self.is_attached:
            self.frames.show_changes()
            self._show_chosen()
            has_agent = self.context.new_message() is not None
            if has_agent != self._had_agent:
                self._had_agent = has_agent
                self.refresh_bindings()

    @on(FrameList.Moved)
    def _show_chosen(self) -> None:
        self._show_head()
        self._show_frame()

    # ------------------------------------------------------------------------- what is shown

    def _show_head(self) -> None:
        palette = current_palette()
        count, every = len(self.listing), len(self._log)
        left = [Segment("Messages", palette.strong), Segment(f"  {self.context.title}", palette.dim)]
        if self._only is not None:
            left.append(Segment(f"  of {self._only.label}", palette.accent))
        self.query_one("#head", Bar).show(left, [Segment(f" {self._counts(count, every)}", palette.dim)])
        frames = self.frames
        frames.empty_text = self._empty_text(every)
        if self.listing.is_filtered and not count:
            frames.refresh()

    def _counts(self, count: int, every: int) -> str:
        words = [f"{count:,} of {every:,}" if self.listing.is_filtered else pluralize(every, "message")]
        if not self._log.is_complete:
            words.append(f"indexing {self._log.progress:.0%}")
        elif self._only is not None and self._finding:
            words.append(f"searching {self._finding:.0%}")
        elif self.listing.is_scanning:
            words.append("searching …")
        if not self.frames.follows:
            words.append("not following")
        return " · ".join(words)

    @property
    def _finding(self) -> float:
        finder = self.context.finder
        return finder.progress if finder is not None and finder.progress < 1 else 0.0

    def _empty_text(self, every: int) -> str:
        if self._only is not None and self._matched_count < 0:
            return "Searching …"
        if self._only is not None:
            return "The log has no message that made this entry."
        return "No message matches the filter." if every else "Nothing has been recorded yet."

    def _show_frame(self) -> None:
        """Show the frame at the cursor, unless it is shown already."""
        row = self.frames.row
        self._show_title(row)
        shown = None if row is None else (row.place, row.size, row.type)
        if shown == self._shown and row is not None:
            return
        self._shown = shown
        if row is None:
            self.view.show(None)
        elif row.size > MAX_DECODED_BYTES:
            text = escape_controls(self._log.text(row.number, MAX_SHOWN_BYTES))
            note = f"Only the first {format_size(len(text))} of {format_size(row.size)} are shown."
            self.view.show(None, f"{note}\n\n{text}")
        elif row.type in ("noise", "stderr", "note", "damaged"):
            self.view.show(None, escape_controls(self._plain_text(row)))
        else:
            frame = self._log.frame(row.number)
            deviations = self._log.deviations(row.number)
            self.view.show(JsonTree(frame, [(one.place, one.sentence) for one in deviations]))

    def _plain_text(self, row: FrameRow) -> str:
        frame = self._log.frame(row.number)
        return frame if isinstance(frame, str) else self._log.text(row.number)

    def _show_title(self, row: FrameRow | None) -> None:
        palette = current_palette()
        if row is None:
            self.query_one("#title", Bar).show([], [])
            return
        words = [row.method, row.kind, row.type if row.type not in ("notification", "event") else ""]
        left: Spans = [Segment(" ".join(filter(None, words)), palette.strong)]
        if row.seconds is not None:
            left.append(Segment(f"  {format_seconds(row.seconds)}", palette.dim))
        if count := len(self.listing.deviations(row.number)):
            left.append(Segment(f"  {DEVIATION_SIGN} {pluralize(count, 'deviation')}", palette.error))
        number = f"  #{row.number + 1:,}"
        room = self.view.size.width - Segment.get_line_length(left) - len(number) - 1
        when = ""
        if row.at is not None and row.at > DAY:
            when = format_moment(row.at, with_date=True)
            when = when if len(when) <= room else format_moment(row.at)
        elif row.at is not None:
            when = format_elapsed(row.at - (self._log.started or 0))
        self.query_one("#title", Bar).show(left, [Segment(f" {when}{number}", palette.dim)])

    # ------------------------------------------------------------------------- moving

    def action_move(self, step: int) -> None:
        """Move the cursor of the list or of the JSON."""
        if self._on_page:
            self.view.move(step)
        else:
            self.frames.move_to(self.frames.cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by a page."""
        if self._on_page:
            self.view.page(step)
        else:
            self.action_move(step * max(1, self.frames.size.height - 1))

    def action_end(self, step: int) -> None:
        """Go to the first (-1) or last (1) line. At the last message, the list follows the log."""
        if self._on_page:
            self.view.end(step)
        else:
            self.frames.move_to(0 if step < 0 else len(self.listing) - 1)

    def action_switch(self) -> None:
        """Move the focus from the list to the JSON, or back."""
        zoomed = self._parts.has_class("zoomed")
        self.set_focus(self.frames if self.focused is not self.frames and not zoomed else self.view)
        self.refresh_bindings()

    def action_zoom(self) -> None:
        """Show the JSON on the whole screen, or the list again."""
        self._parts.toggle_class("zoomed")
        self.set_focus(self.view if self._parts.has_class("zoomed") else self.frames)

    def action_partner(self) -> None:
        """Go from a request to its answer, or back."""
        row = self.frames.row
        if row is None or row.partner is None:
            self.app.bell()
        elif not self.listing.is_listed(row.partner):
            self._show_all(self._log.row(row.partner).place)
        else:
            self.frames.move_to(self.listing.index_of(row.partner))

    def action_deviation(self, step: int) -> None:
        """Go to the next (1) or previous (-1) message with a deviation from the schema."""
        self.run_worker(self._find_deviation(step), group="deviation", exclusive=True)

    async def _find_deviation(self, step: int) -> None:
        index, until = self.frames.cursor + step, time.monotonic() + WORK_SECONDS
        while 0 <= index < len(self.listing):
            if self.listing.deviations(self.listing.number(index)):
                self.frames.move_to(index)
                self._show_frame()  # now: the message about it comes later
                self.view.go_to_deviation()
                return
            index += step
            if time.monotonic() >= until:
                await asyncio.sleep(PAUSE_SECONDS)
                until = time.monotonic() + WORK_SECONDS
        where = "below" if step > 0 else "above"
        self.notify(f"No message {where} deviates from the schema.", timeout=3)

    # ------------------------------------------------------------------------- entries

    def action_choose(self) -> None:
        """Go to the entry that the message made. In the JSON, or without a transcript, fold or focus it."""
        if self._on_page:
            self.view.toggle()
        elif self.context.show_entry is None:
            self.action_switch()
        elif (row := self.frames.row) is not None:
            self.run_worker(self._go_to_entry(row), group="entry", exclusive=True)

    async def _go_to_entry(self, row: FrameRow) -> None:
        finder, show_entry = self.context.finder, self.context.show_entry
        assert finder is not None
        assert show_entry is not None
        if not self._log.is_complete:
            self.notify("The beginning of the log is still being read.", timeout=3)
            return
        await finder.catch_up(self._log)
        place = finder.frames.entry_of(row.place)
        if place is None:
            self.notify("This message made no entry of the transcript.", timeout=4)
            return
        self._close()
        self.app.call_later(show_entry, place)

    def action_all(self) -> None:
        """List all messages. The cursor stays on its message."""
        self._show_all()

    def _show_all(self, place: int | None = None) -> None:
        self._only, self._hides_mcp = None, False
        self.query_one(FilterLine).text = ""
        self._typed_filter = None
        self.frames.stay_at(place)
        self._select()
        self._show_changes()

    # ------------------------------------------------------------------------- filter

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one(FilterLine).start()

    @on(FilterLine.Changed)
    def _filter_changed(self, event: FilterLine.Changed) -> None:
        if event.filter != self._typed_filter:
            self._typed_filter = event.filter
            self._select()
            self._undrawn = True  # drawn later, after what was typed

    @on(FilterLine.Left)
    def _leave_filter(self) -> None:
        self.set_focus(self.frames)

    def action_mcp(self) -> None:
        """Hide the calls of MCP servers, or show them among the messages."""
        self._hides_mcp = not self._hides_mcp
        self._select()
        self._show_changes()
        self.refresh_bindings()

    def _select(self) -> None:
        """List the frames that match the filter and belong to the selected entry."""
        only, finder = self._only, self.context.finder
        places = partial(only.frames, finder.frames) if only is not None and finder is not None else None
        typed = self._typed_filter.text if self._typed_filter is not None else ""
        text = f"{typed} -type:mcp" if self._hides_mcp else typed
        self.frames.range_start = None
        self.listing.select(parse_filter(text) or None, places)

    # ------------------------------------------------------------------------- copying and saving

    def action_range(self) -> None:
        """Start a selection at the cursor, or end it."""
        frames = self.frames
        frames.range_start = frames.cursor if frames.range_start is None else None
        frames.stay_at(None)
        frames.refresh()

    def action_copy(self) -> None:
        """Copy the message at the cursor, or the selected ones, as JSON on one line each."""
        rows = [self.listing.row(index) for index in self.frames.selected]
        if not rows:
            self.app.bell()
        elif sum(row.size for row in rows) > MAX_COPIED_BYTES:
            self.notify("This is too much for the clipboard: save it to a file.", severity="warning")
        else:
            self.app.copy_to_clipboard("\n".join(self._log.text(row.number) for row in rows))

    def action_copy_field(self) -> None:
        """Copy the field at the cursor of the JSON."""
        node = self.view.node
        if node is None:
            self.action_copy()
        else:
            self.app.copy_to_clipboard(field_text(node))

    def action_save(self) -> None:
        """Save the selected messages, or all that are listed, to a file."""
        self.run_worker(self._save(), group="save", exclusive=True)

    async def _save(self) -> None:
        frames = self.frames
        indexes = frames.selected if frames.range_start is not None else range(len(self.listing))
        numbers = [self.listing.number(index) for index in indexes]
        name = time.strftime("wire-%Y%m%d-%H%M%S.jsonl")
        heading = f"Save {pluralize(len(numbers), 'message')} to a file"
        typed = await self.ask(RenameDialog(name, name, heading=heading))
        if typed is None:
            return
        path = Path(self.context.folder or ".") / os.path.expanduser(typed or name)  # noqa: PTH111 - never raises
        try:
            left_out = await self._write(path, numbers)
        except UserError as error:
            self.notify_error(error)
            return
        rest = f" {pluralize(left_out, 'line')} of stderr or damaged text left out." if left_out else ""
        self.notify(f"Saved to {display_path(str(path))}.{rest}", timeout=6)

    async def _write(self, path: Path, numbers: list[int]) -> int:
        """Write frames as a log that acp-tui can open. Return the number of rows that are no frames."""
        left_out = 0
        with (
            os_errors_reported(f"Cannot save {display_path(str(path))}"),
            open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file,
        ):
            for step, number in enumerate(numbers):
                row = self._log.row(number)
                if row.at is None or row.direction not in ("sent", "received", "client"):
                    left_out += 1
                    continue
                frame = self._log.text(number)
                file.write(f'{{"t":{row.at!r},"dir":"{row.direction}","frame":{frame}}}\n')
                if step % ROWS_PER_STEP == 0:
                    await asyncio.sleep(0)
        return left_out

    # ------------------------------------------------------------------------- other keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now. The footer omits the keys of other actions."""
        match action:
            case "new_message":
                return self.context.new_message() is not None
            case "fold":
                return self._on_page
            case "all":
                return self.listing.is_filtered
        return super().check_action(action, parameters)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        if key_id == "wire.choose" and (self._on_page or self.context.show_entry is None):
            return "fold" if self._on_page else "JSON"
        if (
            key_id == "wire.partner"
            and (row := self.frames.row) is not None
            and row.type in ("answer", "error")
        ):
            return "request"
        return "quit" if key_id == "wire.close" and not self._is_above else None

    def action_fold(self) -> None:
        """Fold or unfold the field at the cursor."""
        self.view.toggle()

    def action_fold_all(self) -> None:
        """Fold or unfold the field at the cursor and everything in it."""
        self.view.toggle(inside=True)

    def action_times(self) -> None:
        """Switch between the time since the first message and the time of day."""
        self.frames.absolute_times = not self.frames.absolute_times
        self.frames.refresh()

    def action_new_message(self) -> None:
        """Open the dialog that sends a message by hand."""
        if (open_page := self.context.new_message()) is not None:
            open_page()

    def action_back(self) -> None:
        """End the selection, show the list again, clear the filter, or close the screen.

        Does only the first action that applies.
        """
        frames, line = self.frames, self.query_one(FilterLine)
        if frames.range_start is not None:
            self.action_range()
        elif self._parts.has_class("zoomed"):
            self.action_zoom()
        elif self._on_page:
            self.set_focus(frames)
        elif line.text:
            line.text = ""
        else:
            self._close()

    def action_close(self) -> None:
        """Close the screen."""
        self._close()

    def action_interrupt(self) -> None:
        """Do what `action_back` does."""
        self.action_back()

    @property
    def _is_above(self) -> bool:
        return self.app.screen_stack[0] is not self

    def _close(self) -> None:
        if self._is_above:
            self.dismiss(None)
        else:
            self.post_message(self.CloseRequested(self))


def open_log(app: App[object], path: Path | None, title: str) -> None:
    """Open the wire screen of a log above the current screen; without a log, say that there is none."""
    if path is None:
        app.notify(NOT_RECORDED, timeout=6)
        return
    try:
        app.push_screen(WireScreen(WireContext(path, escape_line(title), str(path.parent))))
    except UserError as error:
        app.notify(str(error), severity="error", timeout=10)

"""The full-screen views of one text, such as raw JSON, a whole diff, the agent's stderr or one entry."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.segment import Segment

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.entry_labels import STATUS_ICONS, terminal_command
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.session.state import Entry, Session, Terminal
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog, scroll_page
from acp_tui.ui.drawing.body import Body, DrawContext, LongBody
from acp_tui.ui.entries.renderers import GuardedBody
from acp_tui.ui.entries.terminal import FullOutput, exit_text, status_name
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller, LongText, NumberedText

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.strip import Strip
    from textual.timer import Timer

    from acp_tui.ui.widgets.bar import Hint


if TYPE_CHECKING:
    Content = str | Callable[[DrawContext], Sequence[Body]]
CONTEXT_ROWS = 3
"""The number of rows shown above the line at which the file is opened."""
UPDATE_SECONDS = 0.1
"""Seconds between two updates of a page whose text still grows."""
STEP_SECONDS = 0.05
"""The maximum duration of one update, so that keys are not delayed."""
STEP_LINES = 100
"""The number of lines that an update measures before it checks the time again."""


class DetailScreen(Dialog[None]):
    """Shows text, which must be safe to display, or the `Body` objects that a function draws."""

    SCOPED_CSS = False  # subclasses use it, too
    CSS = """
    DetailScreen { background: $background; layout: vertical; }
    DetailScreen Bar { padding: 0 1; background: $surface; }
    DetailScreen BodyScroller { height: 1fr; padding: 0 0 0 1; }
    """
    BINDINGS: ClassVar = keys.bindings("detail")
    AUTO_FOCUS = ""

    def __init__(
        self, title: str, content: Content, *, session: Session | None = None, cwd: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._content = content
        self._session = session or Session()
        self._cwd = cwd

    def compose(self) -> ComposeResult:
        yield Bar([Segment(self._title, current_palette().strong)], id="head")
        yield BodyScroller(self._bodies, id="text")
        yield KeyHints(self._hints(), id="keys")

    def on_mount(self) -> None:
        """Show the numbers of the visible lines in the title bar, now and while the user scrolls."""
        self.watch(self.query_one(BodyScroller), "scroll_y", self._show_position)
        self.call_after_refresh(self._show_position)

    def on_resize(self) -> None:
        """Update the line range in the title: lines wrap differently at the new width."""
        self.call_after_refresh(self._show_position)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.query_one("#head", Bar).show([Segment(self._title, current_palette().strong)])
        self.call_after_refresh(self._show_position)

    def _bodies(self, width: int) -> Sequence[Body]:
        if isinstance(self._content, str):
            return [LongText(self._content, current_palette().text, width)]
        context = DrawContext(width=width, session=self._session, cwd=self._cwd, full=True)
        return self._content(context)

    def _hints(self) -> Sequence[Hint]:
        copy, close = (keys.bound_keys(self, name).split()[0] for name in ("detail.copy", "detail.close"))
        return [(close, "close"), (copy, "copy all"), ("↑↓ PgUp PgDn", "scroll")]

    def _show_position(self) -> None:
        page = self.query_one(BodyScroller)
        height = page.virtual_size.height
        if not page.size.height or not height:
            return
        first = page.scroll_offset.y + 1
        last = min(height, first + page.size.height - 1)
        position = [Segment(f" {first:,}–{last:,} of {height:,}", current_palette().dim)]
        self.query_one("#head", Bar).show(right=position)

    def action_scroll(self, lines: int) -> None:
        """Scroll down by this number of lines; up if negative."""
        self.query_one(BodyScroller).scroll_relative(y=lines, animate=False)

    def action_page(self, step: int) -> None:
        """Scroll by a page, keeping one line in view."""
        scroll_page(self.query_one(BodyScroller), step)

    def action_home(self) -> None:
        """Scroll to the beginning."""
        self.query_one(BodyScroller).scroll_home(animate=False)

    def action_end(self) -> None:
        """Scroll to the end."""
        self.query_one(BodyScroller).scroll_end(animate=False)

    def action_copy(self) -> None:
        """Copy the selection, or everything if nothing is selected."""
        text = self.get_selected_text() or self.query_one(BodyScroller).copy_text()
        self.app.copy_to_clipboard(text)


class FileViewScreen(DetailScreen):
    """A text file, scrolled to a marked line."""

    def __init__(self, title: str, path: str, text: str, *, line: int | None) -> None:
        """Create the screen.

        Control and invisible characters in `title` are replaced. `path` determines the syntax highlighting.
        `line` is the line to mark.
        """
        super().__init__(escape_invisible_line(title), self._draw)
        self._path = path
        self._text = text
        self._line = line
        self._is_new = True

    def _draw(self, context: DrawContext) -> Sequence[Body]:
        body = NumberedText(self._text, self._path, context.width, marked=self._line)
        if self._is_new and self._line is not None:
            self._is_new = False
            self.call_after_refresh(self._go_to_row, max(0, body.row_of(self._line) - CONTEXT_ROWS))
        return [body]

    def _go_to_row(self, row: int) -> None:
        self.query_one(BodyScroller).scroll_to(y=row, animate=False, force=True)


class OutputScreen(DetailScreen):
    """Shows all output of a terminal that acp-tui keeps. At first, the end of the output is visible."""

    def __init__(self, terminal: Terminal, *, session: Session, cwd: str = "") -> None:
        title = escape_line(terminal_command(terminal, cwd)) or "Agent command"
        super().__init__(title, lambda context: [FullOutput(terminal, context)], session=session, cwd=cwd)
        self._terminal = terminal
        self._shown_version = -1
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Update the page until the command ends."""
        self._timer = self.set_interval(UPDATE_SECONDS, self._update)
        self._show_state()
        self.call_after_refresh(self.action_end)

    def _update(self) -> None:
        ended = self._terminal.ended_at is not None
        if self._terminal.version != self._shown_version:
            self._shown_version = self._terminal.version
            self.query_one(BodyScroller).update()
            self.call_after_refresh(self._show_position)
        if ended:
            assert self._timer is not None
            self._timer.stop()
            self._show_state()

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        super().apply_theme()
        self._show_state()

    def _show_state(self) -> None:
        state, palette = status_name(self._terminal), current_palette()
        words = exit_text(self._terminal) or ("runs" if self._terminal.ended_at is None else "")
        spans = [
            Segment(f"{STATUS_ICONS[state]} ", palette.signs[state]),
            Segment(self._title, palette.strong),
            Segment(f"  {words}", palette.signs[state]),
        ]
        self.query_one("#head", Bar).show(spans)


class FullEntryScreen(DetailScreen):
    """Shows an entry as in the transcript, with nothing folded or left out."""

    def __init__(self, entry: Entry, *, session: Session, cwd: str = "") -> None:
        super().__init__(kind_of(entry).title, self._draw, session=session, cwd=cwd)
        self._entry = entry
        self._drawn_version = entry.version
        self._body: MeasuredBody | None = None

    def on_mount(self) -> None:
        """Start to check for changes of the entry, and for lines that have not been measured yet."""
        self.set_interval(UPDATE_SECONDS, self._update)

    def _update(self) -> None:
        """Update the page if the entry has changed or is running, or if not all of it has been measured."""
        entry, body = self._entry, self._body
        has_changed = entry.version != self._drawn_version or kind_of(entry).is_running(entry)
        if body is None or (body.complete and not has_changed):
            return
        self._drawn_version = entry.version
        self.query_one(BodyScroller).update()
        self.call_after_refresh(self._show_position)

    def _draw(self, context: DrawContext) -> Sequence[Body]:
        body = GuardedBody(self._entry, context)
        self._body = MeasuredBody(cast("LongBody", body))
        return [self._body]


class MeasuredBody:
    """A long body that is measured in steps, because measuring all of a very long one takes seconds.

    Each update measures more lines. The page shows the lines measured so far.
    """

    def __init__(self, body: LongBody) -> None:
        self._body = body
        self._measured = 0
        self.complete = False
        """True if everything has been measured."""
        self._measure()

    def _measure(self) -> None:
        """Measure some more lines."""
        until = time.monotonic() + STEP_SECONDS
        self._measure_step()
        while not self.complete and time.monotonic() < until:
            self._measure_step()

    def _measure_step(self) -> None:
        self._body.settle(self._measured, self._measured + STEP_LINES)
        self._measured += STEP_LINES
        self.complete = self._measured >= self._body.height

    @property
    def height(self) -> int:
        """The number of lines measured so far."""
        return self._body.height if self.complete else min(self._body.height, self._measured)

    def line(self, number: int) -> Strip:
        """Return the drawn line with this number."""
        return self._body.line(number)

    def copy_text(self) -> str:
        """Return the source text of the whole body."""
        return self._body.copy_text()

    def update(self) -> bool:
        """Update the body and measure more lines. Return False if a new body must be made instead."""
        same = self._body.update()
        if self.complete:
            self._measured = max(0, self._measured - STEP_LINES)  # the last lines may have changed
            self.complete = False
        self._measure()
        return same

"""Base classes of the dialogs: a modal screen, a dialog in a box, and one that ignores type-ahead."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.segment import Segment
from textual import events, on
from textual.containers import Vertical
from textual.screen import ModalScreen

from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import redraw_in_theme
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.select_list import SelectList

if TYPE_CHECKING:
    from textual.app import App, ComposeResult
    from textual.timer import Timer
    from textual.widget import Widget

    from acp_tui.ui.widgets.bar import Hint


CHROME_ROWS = 6
"""The rows of a box besides its main part: borders, title, two blank rows, keys."""
SIDE_CELLS = 4
"""The cells of a box beside its content: borders and padding."""
MAX_LIST_ROWS = 20
"""The maximum number of rows of a list in a box that are visible at once."""
PAUSE_SECONDS = 0.4
"""Seconds without a keystroke after which keys are accepted."""
REPLACEMENT_SECONDS = 1.0
"""Seconds until keys are accepted by a question that takes the place of one that was withdrawn."""
STOP_TYPING = [("…", "keys work once you stop typing")]
"""The hint to show while keys are ignored."""

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal screen. Ctrl+C copies the selection; without a selection, Ctrl+C does the same as Esc."""

    BINDINGS: ClassVar = keys.bindings("dialog")

    _is_obsolete = False

    @on(events.Mount)
    def _follow_theme(self) -> None:
        """Follow the theme, which can change with the terminal's background at any time."""
        self.app.theme_changed_signal.subscribe(self, lambda _: redraw_in_theme(self))

    async def wait_for_result(self, app: App[Any], *, mode: str | None = None) -> Result | None:
        """Open the dialog and return its result. Close the dialog if the caller is cancelled.

        Needs no worker, unlike `push_screen_wait`. `mode` is the Textual mode in which the dialog opens.
        """
        answer: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()

        def set_answer(result: Result | None) -> None:
            if not answer.done():
                answer.set_result(result)

        app.push_screen(self, set_answer, mode=mode)
        try:
            return await answer
        finally:
            self.close_if_open()

    def close_if_open(self) -> None:
        """Close the dialog and the screens above it, without calling back, if the dialog is open.

        If another tab is in front, the dialog closes as soon as its tab is in front: Textual closes only
        screens of the current mode.
        """
        if self not in self.app.screen_stack:
            self._is_obsolete = True
            return
        while self.app.screen is not self:
            self.app.pop_screen()
        self.app.pop_screen()

    @on(events.ScreenResume)
    def _close_if_obsolete(self) -> None:
        if self._is_obsolete:
            self.dismiss(None)

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def action_interrupt(self) -> None:
        """Copy the selection; call `action_close` if nothing is selected."""
        if (selected := self.get_selected_text()) is None:
            self.action_close()
        else:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()


class BoxDialog(Dialog[Result]):
    """A dialog in a box: a title, the content, and the keys. The box is as high as its content.

    Subclasses yield the content, and override `hints`, `head` if the title is more than a text, and `fit` if
    the content can have more rows than the screen. With the class "warning", the border is yellow.
    """

    DEFAULT_CSS = """
    BoxDialog { align: center middle; }
    BoxDialog > #dialog {
        max-width: 100%; height: auto; padding: 0 1; background: $surface; border: round $primary;
    }
    BoxDialog.warning > #dialog { border: round $warning; }
    """
    AUTO_FOCUS = ""
    WIDTH: ClassVar[int | None] = 92
    """The width of the box; None for the width of the screen."""

    def __init__(self, title: str = "") -> None:
        """Create the dialog. Control and invisible characters in `title` are replaced."""
        super().__init__()
        self.styles.background = "transparent"  # not in the CSS: the CSS of the app is stronger
        self._title = title

    def compose(self) -> ComposeResult:
        box = Vertical(id="dialog")
        box.styles.width = "100%" if self.WIDTH is None else self.WIDTH
        with box:
            left, right = self.head()
            if left:
                yield Bar(left, right, id="head")
            yield from self.content()
            yield KeyHints([], id="keys")

    def content(self) -> ComposeResult:
        """Create the widgets between the title and the keys."""
        raise NotImplementedError

    def head(self) -> tuple[Spans, Spans]:
        """Return the left and the right part of the title."""
        title = escape_invisible_line(self._title)
        return [Segment(title, current_palette().strong)] if title else [], []

    def show_head(self) -> None:
        """Show the title as it is now."""
        for head in self.query("#head").results(Bar):  # none before the dialog is composed
            head.show(*self.head())

    def hints(self) -> Sequence[Hint]:
        """Return the keys that work now, each with what it does."""
        raise NotImplementedError

    def update_hints(self) -> None:
        """Show the keys that work now."""
        for line in self.query(KeyHints):  # none before the dialog is composed
            line.set_hints(self.hints())

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.show_head()

    # ------------------------------------------------------------------------- size

    @on(events.Mount)
    def _start(self) -> None:
        self.fit()
        self.update_hints()

    @on(events.Resize)
    def _resized(self) -> None:
        if self.is_mounted:
            self.fit()

    def fit(self) -> None:
        """Set the heights of parts that can have more rows than the screen. Called when the size changes."""

    @property
    def inner_width(self) -> int:
        """The width of the content."""
        width = self.app.size.width
        return min(self.WIDTH or width, width) - SIDE_CELLS

    @property
    def room(self) -> int:
        """The number of rows that the screen has for the main part of the content."""
        return self.app.size.height - CHROME_ROWS

    def fit_list(self, rows: SelectList, *, other_rows: int = 0) -> None:
        """Give a list the rows it needs, as far as there is room besides `other_rows` rows of other parts.

        A list that is filtered keeps its height: a dialog that jumps is hard to read.
        """
        before = int(rows.styles.height.value) if rows.styles.height else 0
        wanted = max(rows.height_at(self.inner_width), before)
        rows.styles.height = max(1, min(wanted, self.room - other_rows, MAX_LIST_ROWS))

    # ------------------------------------------------------------------------- keys of a list

    def on_select_list_chosen(self) -> None:
        """Do the same as Enter on the clicked row, which is selected now."""
        self.action_choose()

    def action_move(self, step: int) -> None:
        """Move the selection. At the ends, a single step wraps around and a longer one stops."""
        self.query_one(SelectList).move(step)

    def action_choose(self) -> None:
        """Use the selected row."""


def scroll_page(widget: Widget, step: int) -> None:
    """Scroll a widget by a page, keeping one line in view: down if `step` is positive, else up."""
    rows = max(1, widget.size.height - 1)
    widget.scroll_relative(y=rows if step > 0 else -rows, animate=False)


class GuardedDialog(BoxDialog[Result]):
    """A dialog that opens while the user may be typing. It ignores keys until there is a pause."""

    is_guarded = True
    """Whether keys are ignored until the next pause."""

    def __init__(
        self,
        title: str = "",
        *,
        replaces_another: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the dialog.

        Args:
            title: The title.
            replaces_another: Whether the user was about to answer another question, which was withdrawn.
            clock: Returns the seconds of a clock that never goes back.
        """
        super().__init__(title)
        self.clock = clock
        self._last_key_at = clock()
        self._opens_at = self._last_key_at + (REPLACEMENT_SECONDS if replaces_another else 0)
        self._armed = False  # the last key was an arrow or the like, so the next key is accepted at once
        self._pause_timer: Timer | None = None

    @on(events.Mount)
    def _start_guard(self) -> None:
        self.ignore_keys()

    def ignore_keys(self) -> None:
        """Ignore keys until the next pause in typing. Call this when the dialog shows something new."""
        self._last_key_at = self.clock()
        self._armed = False
        self.update_hints()

    def on_key(self, event: events.Key) -> None:
        """Ignore type-ahead: keys pressed before the user has seen the dialog."""
        if self.is_guarded:
            self.filter_key(event)

    def on_paste(self) -> None:
        """Ignore keys until the next pause: a paste shows that the user is still writing."""
        if self.is_guarded:
            self.ignore_keys()

    def filter_key(self, event: events.Key) -> None:
        """Stop a key that must not act yet, before any binding sees it.

        After an accepted arrow or other navigation key, the next key is accepted at once. After a key that
        types text, the next one is accepted only after a pause: typing `via` must not press `a` for "allow".
        """
        navigates = not event.is_printable and event.key in self.active_bindings
        accepted = self.accepts_keys
        self._armed = accepted and navigates
        self._last_key_at = self.clock()
        if not accepted:
            event.stop()
            event.prevent_default()
        self.update_hints()

    def update_hints(self) -> None:
        """Show the keys that work now. While keys are ignored, ask the user to stop typing."""
        lines = self.query(KeyHints)  # none before the dialog is composed
        for line in lines:
            line.set_hints(self.hints() if self.accepts_keys else STOP_TYPING)
        if self._pause_timer is not None:  # without this, each ignored key would add a timer
            self._pause_timer.stop()
            self._pause_timer = None
        if lines and not self.accepts_keys:
            self._pause_timer = self.set_timer(max(0.05, self._seconds_left), self.update_hints)

    @property
    def accepts_keys(self) -> bool:
        """Whether the next key is handled, not ignored."""
        return not self.is_guarded or self._armed or self._seconds_left <= 0

    @property
    def _seconds_left(self) -> float:
        return max(self._last_key_at + PAUSE_SECONDS, self._opens_at) - self.clock()

"""The dialog that shows the values of a form before they are sent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual.containers import Vertical

from acp_tui.session.state import Session
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.drawing.json_lines import json_body
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.screens.dialogs.typing_guard import TypingGuard
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual import events
    from textual.app import ComposeResult

    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint

CHROME_ROWS = 6
"""Rows of the dialog besides the values: borders, head, two blank rows, keys."""
WIDTH = 92


class FormReviewDialog(Dialog[bool]):
    """Shows the values of a form for confirmation. Returns True to send them.

    Keys are ignored until typing has paused.
    """

    CSS = """
    FormReviewDialog { align: center middle; background: transparent; }
    FormReviewDialog #dialog {
        width: 92; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $warning;
    }
    FormReviewDialog #values { margin: 1 0; }
    """
    BINDINGS: ClassVar = keys.bindings("choose")
    AUTO_FOCUS = ""

    def __init__(
        self,
        title: str,
        content: Mapping[str, Any],
        palette: Palette,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`content` is shown as JSON, with secrets masked by the caller."""
        super().__init__()
        self._title = title
        self._content = dict(content)
        self._palette = palette
        self._typing_guard = TypingGuard(self, self._hints, clock)

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar(self._head(), id="head")
            yield BodyScroller(self._bodies, id="values")
            yield KeyHints(self._typing_guard.hints(), self._palette, id="keys")

    def on_mount(self) -> None:
        self._fit()
        self._typing_guard.restart()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        width, height = self.app.size
        page = self.query_one(BodyScroller)
        page.styles.height = max(1, min(page.height_at(min(WIDTH, width) - 5), height - CHROME_ROWS))

    def _head(self) -> list[Segment]:
        return [Segment(self._title, self._palette.strong)]

    def _bodies(self, width: int) -> Sequence[Body]:
        context = DrawContext(width=width, palette=self._palette, session=Session(), full=True)
        return [json_body(self._content, context)]

    def _hints(self) -> list[Hint]:
        names = ("choose.take", "choose.close", "choose.page_down")
        take, close, page = (keys.bound_keys(self, name) for name in names)
        values = self.query(BodyScroller)  # none before the dialog is composed
        scroll = [(page, "scroll")] if values and values.first().max_scroll_y else []
        return [(take, "send"), (close, "back"), *scroll]

    def on_key(self, event: events.Key) -> None:
        """Ignore keys until the user pauses, because they were meant for the form."""
        self._typing_guard.filter_key(event)

    def on_paste(self) -> None:
        """Ignore keys until the next pause: a paste shows that the user is still writing."""
        self._typing_guard.restart()

    def action_move(self, step: int) -> None:
        """Scroll by a line if `step` is 1 or -1, else by a page."""
        page = self.query_one(BodyScroller)
        rows = step if abs(step) == 1 else max(1, page.size.height - 1) * (1 if step > 0 else -1)
        page.scroll_relative(y=rows, animate=False)

    def action_choose(self) -> None:
        """Send the values."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Go back to the form."""
        self.dismiss(False)

    def use_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.query_one("#head", Bar).show(self._head())
        self.query_one(BodyScroller).show(self._bodies)
        self.query_one(KeyHints).use_palette(palette)

"""A mark that counts new lines below the visible part of the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.message import Message
from textual.widgets import Static

from acp_tui.ui.keys import bound_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget


RIGHT_MARGIN = 2
"""Empty cells to the right of the mark, for the scrollbar and a gap."""


class NewBelow(Static):
    """A mark at the right end of the transcript's last visible line. A click on it scrolls to the end."""

    DEFAULT_CSS = """
    NewBelow {
        layer: above; dock: top; width: auto; height: 1; padding: 0 1; display: none;
        background: $panel; color: $accent;
    }
    """

    class Clicked(Message):
        """The user clicked the mark."""

    def __init__(self, over: Widget, covered: Callable[[], bool]) -> None:
        """`covered` returns True while something else covers the transcript."""
        super().__init__()
        self._over = over
        self._covered = covered
        self._position = Offset()

    def on_mount(self) -> None:
        """Move the mark whenever the layout of the screen changes."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._reposition())

    def show(self, lines: int) -> None:
        """Show the number of new lines; hide the mark if there are none."""
        self.display = lines > 0
        if lines > 0:
            self.update(f"↓ {lines} new · {bound_keys(self, 'conversation.end')}")
            self._reposition()

    def _reposition(self) -> None:
        self.visible = not self._covered()
        region = self._over.region
        width = self.content_size.width + 2 if self.content_size.width else len(str(self.render())) + 2
        position = Offset(max(region.x, region.right - width - RIGHT_MARGIN), max(0, region.bottom - 1))
        if self.display and position != self._position:
            self._position = position
            self.styles.offset = (position.x, position.y)

    def on_click(self) -> None:
        self.post_message(self.Clicked())

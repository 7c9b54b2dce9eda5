"""Says how much has come below what is on the screen."""

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
"""Cells kept free at the right, for the scrollbar and before it."""


class NewBelow(Static):
    """A mark over the end of the transcript's last line, while that can be seen; a click goes to the end."""

    DEFAULT_CSS = """
    NewBelow {
        layer: above; dock: top; width: auto; height: 1; padding: 0 1; display: none;
        background: $panel; color: $accent;
    }
    """

    class Clicked(Message):
        """The user wants to the end."""

    def __init__(self, over: Widget, covered: Callable[[], bool]) -> None:
        """`covered`: does something else lie over that now?"""
        super().__init__()
        self._over = over
        self._covered = covered
        self._place = Offset()

    def on_mount(self) -> None:
        """Stay where the transcript ends, whatever grows below it."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._follow())

    def show(self, lines: int) -> None:
        """So many lines."""
        self.display = lines > 0
        if lines > 0:
            self.update(f"↓ {lines} new · {bound_keys(self, 'conversation.end')}")
            self._follow()

    def _follow(self) -> None:
        self.visible = not self._covered()
        region = self._over.region
        width = self.content_size.width + 2 if self.content_size.width else len(str(self.render())) + 2
        place = Offset(max(region.x, region.right - width - RIGHT_MARGIN), max(0, region.bottom - 1))
        if self.display and place != self._place:
            self._place = place
            self.styles.offset = (place.x, place.y)

    def on_click(self) -> None:
        """To the end."""
        self.post_message(self.Clicked())

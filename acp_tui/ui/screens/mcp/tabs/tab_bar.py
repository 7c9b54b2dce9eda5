"""The row of tabs about the chosen server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from acp_tui.ui.theme.palette import Palette


class TabBar(Widget):
    """The titles of the tabs, with the current tab marked."""

    DEFAULT_CSS = """
    TabBar { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class Clicked(Message):
        """The user clicked the tab with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._titles: Sequence[str] = ()
        self._current = 0

    def show(self, titles: Sequence[str], current: int) -> None:
        """Set the titles and the index of the current tab."""
        self._titles, self._current = titles, current
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        palette, width, base = self.palette, self.size.width, self.rich_style
        tabs = [
            Segment(
                f" {title} ",
                (palette.selected if at == self._current else palette.dim) + Style.from_meta({"tab": at}),
            )
            for at, title in enumerate(self._titles)
        ]
        return Strip(tabs).crop_extend(0, width, base).apply_style(base)

    def on_click(self, event: events.Click) -> None:
        """Report the clicked tab."""
        event.stop()
        if (tab := event.style.meta.get("tab")) is not None:
            self.post_message(self.Clicked(tab))

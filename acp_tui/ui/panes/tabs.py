"""The row of tabs above the panes, with buttons to zoom and close the panes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from acp_tui.ui.theme.palette import Palette

ZOOM_SIGN, UNZOOM_SIGN, CLOSE_SIGN = "□", "▫", "×"


class PaneTabs(Widget):
    """Shows the titles of the panes and marks the title of the current pane."""

    DEFAULT_CSS = """
    PaneTabs { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class TabClicked(Message):
        """The user clicked the tab with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class ButtonClicked(Message):
        """The user clicked a button at the right."""

        def __init__(self, action: Literal["zoom", "close"]) -> None:
            super().__init__()
            self.action = action

    def __init__(self, titles: Sequence[str], palette: Palette) -> None:
        super().__init__()
        self._titles = titles
        self._palette = palette
        self._current = 0
        self._zoomed = False

    def show(self, current: int, palette: Palette, *, zoomed: bool) -> None:
        """Set the current tab, the colours and the zoom button."""
        self._current, self._palette, self._zoomed = current, palette, zoomed
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        palette, width, base = self._palette, self.size.width, self.rich_style
        left = [
            Segment(
                f" {title} ", (palette.selected if at == self._current else palette.dim) + _meta(f"tab {at}")
            )
            for at, title in enumerate(self._titles)
        ]
        zoom = Segment(f" {UNZOOM_SIGN if self._zoomed else ZOOM_SIGN} ", palette.dim + _meta("zoom"))
        right = [zoom, Segment(f"{CLOSE_SIGN} ", palette.dim + _meta("close"))]
        room = width - sum(span.cell_length for span in right)
        line = Strip([*Strip(left).crop_extend(0, max(0, room), None), *right])
        return line.apply_style(base).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        part = str(event.style.meta.get("part", ""))
        event.stop()
        if part.startswith("tab "):
            self.post_message(self.TabClicked(int(part[4:])))
        elif part == "zoom":
            self.post_message(self.ButtonClicked("zoom"))
        elif part == "close":
            self.post_message(self.ButtonClicked("close"))


def _meta(part: str) -> Style:
    return Style.from_meta({"part": part})

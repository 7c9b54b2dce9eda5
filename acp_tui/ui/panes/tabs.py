"""The names of the panes, and at the right what the mouse can do with all of them."""

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

ZOOM, BACK, CLOSE = "□", "▫", "×"


class PaneTabs(Widget):
    """One row."""

    DEFAULT_CSS = """
    PaneTabs { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class Turned(Message):
        """To the pane of this number."""

        def __init__(self, to: int) -> None:
            super().__init__()
            self.to = to

    class Clicked(Message):
        """Something about the panes as a whole."""

        def __init__(self, step: Literal["zoom", "close"]) -> None:
            super().__init__()
            self.step = step

    def __init__(self, titles: Sequence[str], palette: Palette) -> None:
        super().__init__()
        self._titles = titles
        self._palette = palette
        self._current = 0
        self._zoomed = False

    def show(self, current: int, palette: Palette, *, zoomed: bool) -> None:
        """Where we are."""
        self._current, self._palette, self._zoomed = current, palette, zoomed
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        """Tabs at the left, signs at the right."""
        palette, width, base = self._palette, self.size.width, self.rich_style
        left = [
            Segment(
                f" {title} ", (palette.selected if at == self._current else palette.dim) + _meta(f"tab {at}")
            )
            for at, title in enumerate(self._titles)
        ]
        zoom = Segment(f" {BACK if self._zoomed else ZOOM} ", palette.dim + _meta("zoom"))
        right = [zoom, Segment(f"{CLOSE} ", palette.dim + _meta("close"))]
        room = width - sum(span.cell_length for span in right)
        line = Strip([*Strip(left).crop_extend(0, max(0, room), None), *right])
        return line.apply_style(base).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        """As the keys do."""
        part = str(event.style.meta.get("part", ""))
        event.stop()
        if part.startswith("tab "):
            self.post_message(self.Turned(int(part[4:])))
        elif part == "zoom":
            self.post_message(self.Clicked("zoom"))
        elif part == "close":
            self.post_message(self.Clicked("close"))


def _meta(part: str) -> Style:
    return Style.from_meta({"part": part})

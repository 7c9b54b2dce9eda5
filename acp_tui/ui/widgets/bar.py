"""One row of text with two ends: the head of a dialog, or the keys that work in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from acp_tui.ui.palette import Palette
    from acp_tui.ui.widgets.transcript.body import Spans


class Bar(Widget):
    """What stands at the right is always whole; what stands at the left gives way."""

    DEFAULT_CSS = """
    Bar { height: 1; background: transparent; color: $foreground; }
    """
    ALLOW_SELECT = False

    def __init__(self, left: Spans, right: Spans = [], *, id: str | None = None) -> None:  # noqa: A002, B006
        super().__init__(id=id)
        self._left = left
        self._right = right

    def show(self, left: Spans | None = None, right: Spans | None = None) -> None:
        """Say something else; None: as before."""
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        """Both ends."""
        width, style = self.size.width, self.rich_style
        right = Strip(self._right).crop(0, width)
        left = Strip(self._left).crop_extend(0, width - right.cell_length, None)
        return Strip([*left, *right]).apply_style(style)


def key_hints(hints: list[tuple[str, str]], palette: Palette) -> Spans:
    """Keys and what they do."""
    spans: Spans = []
    for key, does in hints:
        spans += [Segment(key, palette.key), Segment(f" {does}  ", palette.dim)]
    return spans

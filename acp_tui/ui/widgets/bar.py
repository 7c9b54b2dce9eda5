"""A row of text with a left and a right part, such as a dialog's title or its key hints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.drawing.wrap import shorten_spans
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.ui.theme.palette import Spans


if TYPE_CHECKING:
    Hint = tuple[str, str]


class Bar(Widget):
    """Shows a left and a right part. The left part is shortened if there is not enough room for both."""

    DEFAULT_CSS = """
    Bar { height: 1; background: transparent; color: $foreground; }
    """
    ALLOW_SELECT = False

    def __init__(self, left: Spans, right: Spans = [], *, id: str | None = None) -> None:  # noqa: A002, B006
        super().__init__(id=id)
        self._left = left
        self._right = right

    def show(self, left: Spans | None = None, right: Spans | None = None) -> None:
        """Replace one or both parts; None keeps the current part."""
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        width, style = self.size.width, self.rich_style
        right = Strip(self._right).crop(0, width)
        room = width - right.cell_length
        left = Strip(shorten_spans(self.left_part(width), room)).crop_extend(0, room, None)
        return Strip([*left, *right]).apply_style(style)

    def left_part(self, width: int) -> Spans:  # noqa: ARG002  # for subclasses
        """Return the left part. Subclasses may fit it to `width` cells."""
        return self._left


class KeyHints(Bar):
    """Shows keys and what they do, as many as fit."""

    def __init__(self, hints: Sequence[Hint], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__([], id=id)
        self._hints = hints

    def set_hints(self, hints: Sequence[Hint]) -> None:
        """Replace the hints."""
        self._hints = hints
        self.refresh()

    def left_part(self, width: int) -> Spans:
        """Return the keys and labels of as many hints as fit into `width` cells."""
        palette = current_palette()
        spans: Spans = []
        used = 0
        for key, label in self._hints:
            hint = [Segment(f"{key} ", palette.key), Segment(label, palette.dim)]
            if (used := used + sum(span.cell_length for span in hint)) > width:
                break
            spans += [*hint, Segment("  ")]
            used += 2
        return spans[:-1]

"""The full-screen view of a text file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.screens.dialogs.detail import DetailScreen
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.numbered_text import NumberedText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.theme.palette import Palette

CONTEXT_ROWS = 3
"""The number of rows shown above the line at which the file is opened."""


class FileViewScreen(DetailScreen):
    """A text file, scrolled to a marked line."""

    def __init__(self, title: str, path: str, text: str, palette: Palette, *, line: int | None) -> None:
        """Create the screen.

        Control and invisible characters in `title` are replaced. `path` determines the syntax highlighting.
        `line` is the line to mark.
        """
        super().__init__(reveal_line(title), self._draw, palette)
        self._path = path
        self._text = text
        self._line = line
        self._is_new = True

    def _draw(self, context: DrawContext) -> Sequence[Body]:
        body = NumberedText(self._text, self._path, context.palette, context.width, marked=self._line)
        if self._is_new and self._line is not None:
            self._is_new = False
            self.call_after_refresh(self._go_to_row, max(0, body.row_of(self._line) - CONTEXT_ROWS))
        return [body]

    def _go_to_row(self, row: int) -> None:
        self.query_one(BodyScroller).scroll_to(y=row, animate=False, force=True)

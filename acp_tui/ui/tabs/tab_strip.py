"""The row of tabs at the top of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.tabs.tab_strip_layout import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from acp_tui.ui.tabs.tab_strip_layout import Piece, StripTab
    from acp_tui.ui.theme.palette import Palette

_STYLES = {"working": "success", "asking": "warning", "done": "accent", "dead": "error"}
"""The field of `Palette` for each mark. Tabs with another mark, or with none, are dim."""


class TabStrip(Widget):
    """Shows the tabs that fit in one row, and marks the current tab."""

    DEFAULT_CSS = """
    TabStrip { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class TabClicked(Message):
        """The user clicked the tab with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, tabs: Sequence[StripTab], current: int, palette: Palette) -> None:
        super().__init__()
        self._tabs = tabs
        self._current = current
        self._palette = palette

    def show(self, tabs: Sequence[StripTab], current: int, palette: Palette) -> None:
        """Show these tabs. `current` is the index of the current tab."""
        if (tabs, current, palette) != (self._tabs, self._current, self._palette):
            self._tabs, self._current, self._palette = tabs, current, palette
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        width, base = self.size.width, self.rich_style
        pieces = layout(self._tabs, self._current, width)
        line = Strip([Segment(piece.text, self._style(piece)) for piece in pieces])
        return line.crop_extend(0, width, base).apply_style(base)

    def _style(self, piece: Piece) -> Style:
        palette = self._palette
        style: Style = getattr(palette, _STYLES.get(piece.mark, "dim"))
        if piece.is_current:
            style = palette.selected + Style(bold=True)
        return style + Style.from_meta({"tab": piece.index})

    def on_click(self, event: events.Click) -> None:
        """Report the clicked tab."""
        event.stop()
        if (index := event.style.meta.get("tab")) is not None:
            self.post_message(self.TabClicked(index))

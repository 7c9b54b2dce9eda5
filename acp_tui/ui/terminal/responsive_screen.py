"""A screen that shows what is typed at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen, ScreenResultType

if TYPE_CHECKING:
    from textual import messages


class ResponsiveScreen(Screen[ScreenResultType]):
    """Draws the widget with the focus as soon as it has changed.

    Textual 8.2.8 draws changes up to 1/60 s later, together with others, and has no public way to draw
    earlier. While text streams, this delay comes on top of the time for its frames.
    """

    async def _on_update(self, message: messages.Update) -> None:
        """Draw now. Textual's own handler comes next, and draws again with all that depends on the change."""
        waiting = self._layout_required or self._scroll_required or self._repaint_required
        if message.widget is not self.focused or waiting or not self.is_current:
            return
        others = self._dirty_widgets.copy()
        self._compositor.update_widgets({self.focused})
        self._compositor_refresh()
        self._dirty_widgets |= others

"""A screen that shows what is typed at once."""

from __future__ import annotations

from typing import Any, TypeVar

from textual import events, messages
from textual.screen import ModalScreen, Screen, ScreenResultType


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


Result = TypeVar("Result")


class SeeThroughScreen(ModalScreen[Result]):
    """Passes dragging and the mouse wheel outside the widget `#dialog` to the screen below.

    Clicks are not passed on, and the focus of the screen below stays where it is.

    Textual 8.2: `Screen._forward_event` is where a screen gets its mouse events. There is no public way to
    let a screen that is not the top one handle them.
    """

    _drags_below = False  # the mouse button was pressed outside the dialog and is still held down

    def _forward_event(self, event: events.Event) -> None:
        below = self._screen_below
        if below is None or not isinstance(event, events.MouseEvent) or not self._is_for_below(event):
            super()._forward_event(event)
            return
        if isinstance(event, events.MouseDown | events.MouseUp):
            self._drags_below = isinstance(event, events.MouseDown)
            self.clear_selection()
        focused = below.focused
        below._forward_event(event)
        if below.focused is not focused:
            below.set_focus(focused, scroll_visible=False)

    @property
    def _screen_below(self) -> Screen[Any] | None:
        stack = self.app.screen_stack
        index = stack.index(self) if self in stack else 0
        return stack[index - 1] if index else None

    def _is_for_below(self, event: events.MouseEvent) -> bool:
        if isinstance(event, events.MouseMove | events.MouseUp):
            return self._drags_below
        if not isinstance(
            event,
            events.MouseDown
            | events.MouseScrollUp
            | events.MouseScrollDown
            | events.MouseScrollLeft
            | events.MouseScrollRight,
        ):
            return False
        return not any(dialog.region.contains_point(event.screen_offset) for dialog in self.query("#dialog"))

    def selected_below(self) -> str | None:
        """Return the text that is selected on the screen below, and end that selection; None if none is."""
        below = self._screen_below
        if below is None or (selected := below.get_selected_text()) is None:
            return None
        below.clear_selection()
        return selected

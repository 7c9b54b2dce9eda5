"""Keys that were pressed before there was to be seen what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Key

if TYPE_CHECKING:
    from textual.widget import Widget


def forward_typeahead(widget: Widget, event: Key) -> bool:
    """Give a key to what a key before it has opened; False: it is for the widget.

    Keys go into the queue of what has the focus when they are pressed, which may be another one by the time
    it is their turn. Where nothing has the focus (a question has come up) they are for what was typed into.
    """
    if widget.app.focused in (widget, None):
        return False
    event.stop()
    event.prevent_default()
    widget.app.post_message(Key(event.key, event.character))
    return True

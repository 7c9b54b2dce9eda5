"""Type-ahead: keys pressed before their target had focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Key

if TYPE_CHECKING:
    from textual.widget import Widget


def forward_typeahead(widget: Widget, event: Key) -> bool:
    """Pass a key to the widget that has the focus now. Return False if `widget` itself should handle the key.

    Textual queues a key with the widget that has the focus when it is pressed. By the time it is handled, an
    earlier key may have moved the focus. If nothing has the focus (a dialog came up), `widget` keeps the key.
    It also keeps it if the user went to another tab after typing: the key was meant for this one.
    """
    app = widget.app
    if app.focused in (widget, None) or widget.screen not in app.screen_stack:
        return False
    event.stop()
    event.prevent_default()
    forwarded = Key(event.key, event.character)
    forwarded.time = event.time  # its place among keys that the app holds back
    widget.app.post_message(forwarded)
    return True

"""Type-ahead: keys pressed before their target had focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Key

if TYPE_CHECKING:
    from textual.widget import Widget


def forward_typeahead(widget: Widget, event: Key) -> bool:
    """Pass a key to the widget that has the focus now. Return False if `widget` itself should handle the key.

    When a key is pressed, Textual queues it with the widget that has the focus. By the time the key is
    handled, an earlier one may have moved the focus. `widget` keeps the key if it still has the focus,
    if nothing has the focus because a dialog came up, or if the user has switched to another tab since
    pressing the key.
    """
    app = widget.app
    if app.focused in (widget, None) or widget.screen not in app.screen_stack:
        return False
    event.stop()
    event.prevent_default()
    forwarded = Key(event.key, event.character)
    forwarded.time = event.time  # the app sorts the keys that it holds back by time
    widget.app.post_message(forwarded)
    return True

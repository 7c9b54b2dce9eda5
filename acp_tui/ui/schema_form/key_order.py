"""Handles the keys of a form in the order in which they were typed, even if one of them moves the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.keys.typeahead import forward_typeahead
from acp_tui.ui.terminal.input.textual_keys import run_binding

if TYPE_CHECKING:
    from textual import events
    from textual.widget import Widget


async def handle_key(widget: Widget, event: events.Key, *, inserts_text: bool) -> None:
    """Run the binding of a key now.

    If the focus has moved since the key was pressed, forward the key to the focused widget instead.

    Textual runs bindings only after the key has passed the message queues of all parents. Characters typed in
    the meantime would overtake the key. If `inserts_text` is true, characters are left to the widget.
    """
    if forward_typeahead(widget, event) or (inserts_text and event.is_printable):
        return
    event.prevent_default()
    event.stop()
    await run_binding(widget.app, event.key)

"""Wrappers for Textual's private functions for key names, bindings and queued keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.events import Key

if TYPE_CHECKING:
    from asyncio import Queue

    from textual.app import App
    from textual.message import Message
    from textual.widget import Widget


async def run_binding(app: App[Any], key: str) -> bool:
    """Run a key's binding in the focused widget or its parents. Return False if the key has no binding."""
    # Textual 8.2.8: `simulate_key` puts the key into the message queue, so keys typed later may be handled
    # first.
    return await app._check_bindings(key)


def key_name_of(character: str) -> str:
    """Return Textual's name of the key that types a character, such as `slash` for `/`."""
    from textual.keys import _character_to_key  # Textual 8.2.8: its inverse of `key_to_character` is private

    return _character_to_key(character)


def move_queued_keys(source: Widget, target: Widget) -> None:
    """Move the queued keys of `source` to `target`, which has just got the focus.

    Later keys go directly to `target` and would otherwise overtake the queued ones.
    """
    # Textual 8.2.8: the queue, and the message that is looked at in advance, are private.
    queue: Queue[Message | None] = source._message_queue
    messages = [source._pending_message]
    source._pending_message = None
    while not queue.empty():
        messages.append(queue.get_nowait())
    for message in messages[1:] if messages[0] is None else messages:
        if isinstance(message, Key):
            target.post_message(message)
        else:
            queue.put_nowait(message)

"""Wrappers for Textual's private functions for key names and bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App


async def run_binding(app: App[Any], key: str) -> bool:
    """Run the binding of a key for the focused widget or its parents; return False if there is none."""
    # Textual 8.2.8: `simulate_key` puts the key into the message queue. By the time it is handled, keys typed
    # later may have been handled before it.
    return await app._check_bindings(key)


def key_name_of(character: str) -> str:
    """Return Textual's name of the key that types a character, such as `slash` for `/`."""
    from textual.keys import _character_to_key  # Textual 8.2.8: its inverse of `key_to_character` is private

    return _character_to_key(character)

"""Keys that Textual does not recognise."""

from __future__ import annotations

from enum import StrEnum

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # Textual 8.2.8: not extensible otherwise


class _ExtraKey(StrEnum):
    ALT_ENTER = "alt+enter"


def register_extra_keys() -> None:
    """Make Textual recognise Alt+Enter.

    Terminals without the Kitty keyboard protocol send Escape followed by the key's character. Textual reads
    that as Enter, so Alt+Enter would send the prompt instead of inserting a newline.
    """
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS["\x1b\r"] = (_ExtraKey.ALT_ENTER,)
        ANSI_SEQUENCES_KEYS["\x1b\n"] = (_ExtraKey.ALT_ENTER,)

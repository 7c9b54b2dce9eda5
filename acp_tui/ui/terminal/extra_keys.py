"""What terminals send for some keys, where Textual does not know it."""

from __future__ import annotations

from enum import StrEnum

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS


class _Missing(StrEnum):
    ALT_ENTER = "alt+enter"


def register_extra_keys() -> None:
    """Tell the keys below apart from those without Alt.

    Terminals without the Kitty keyboard protocol send Escape and then the key's own character. Textual would
    read Alt+Enter as Enter, and a line that was to go on would be sent.
    """
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS["\x1b\r"] = (_Missing.ALT_ENTER,)
        ANSI_SEQUENCES_KEYS["\x1b\n"] = (_Missing.ALT_ENTER,)

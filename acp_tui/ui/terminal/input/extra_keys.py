"""Registers keys that Textual does not recognise."""

from __future__ import annotations

from enum import StrEnum
from string import ascii_lowercase, digits

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # Textual 8.2.8: not extensible otherwise

_NAMES = ("enter", *ascii_lowercase, *digits)
_AltKey = StrEnum("_AltKey", {name: f"alt+{name}" for name in _NAMES})  # type: ignore[misc]  # not a literal


def register_extra_keys() -> None:
    """Make Textual recognise Alt+Enter, and Alt with a letter or a digit.

    For such a key, terminals without the Kitty keyboard protocol send Escape followed by a character. Textual
    reads Alt+Enter as Enter, which would send the prompt. For Alt+S it types "s" into the prompt, and for Alt
    with a digit it types the character that this key combination has on macOS keyboards.
    """
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS["\x1b\r"] = ANSI_SEQUENCES_KEYS["\x1b\n"] = (_AltKey["enter"],)
        for letter in ascii_lowercase:
            ANSI_SEQUENCES_KEYS.setdefault(f"\x1b{letter}", (_AltKey[letter],))
        for digit in digits:
            ANSI_SEQUENCES_KEYS[f"\x1b{digit}"] = (_AltKey[digit],)

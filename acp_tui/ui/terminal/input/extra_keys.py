"""Registers keys that Textual does not recognise."""

from __future__ import annotations

from enum import StrEnum
from string import ascii_lowercase, digits

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # Textual 8.2.8: not extensible otherwise

_NAMES = ("enter", *ascii_lowercase, *digits)
_AltKey = StrEnum("_AltKey", {name: f"alt+{name}" for name in _NAMES})  # type: ignore[misc]  # not a literal
_SHIFT_SEQUENCES = (
    *(f"\x1b[1;2{final}" for final in "PQRS"),
    *(f"\x1b[{number};2~" for number in (15, 17, 18, 19, 20, 21, 23, 24)),
)
"""What xterm sends for Shift with F1 to F12. Textual reads them as F13 to F24."""
_ShiftKey = StrEnum("_ShiftKey", {f"f{number}": f"shift+f{number}" for number in range(1, 13)})  # type: ignore[misc]


def register_extra_keys() -> None:
    """Make Textual recognise Alt+Enter, Alt with letters and digits, and Shift with function keys.

    For a key with Alt, terminals without the Kitty keyboard protocol send Escape followed by a character.
    Textual reads Alt+Enter as Enter, which would send the prompt. For Alt+S it types "s" into the prompt, and
    for Alt with a digit it types the character that this key combination has on macOS keyboards.
    """
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS["\x1b\r"] = ANSI_SEQUENCES_KEYS["\x1b\n"] = (_AltKey["enter"],)
        for letter in ascii_lowercase:
            ANSI_SEQUENCES_KEYS.setdefault(f"\x1b{letter}", (_AltKey[letter],))
        for digit in digits:
            ANSI_SEQUENCES_KEYS[f"\x1b{digit}"] = (_AltKey[digit],)
        for number, sequence in enumerate(_SHIFT_SEQUENCES, 1):
            ANSI_SEQUENCES_KEYS[sequence] = (_ShiftKey[f"f{number}"],)

"""Characters that terminals type for Alt keys which they do not send as such.

A stock xterm sets the eighth bit of the character, so Alt+W types "÷"; macOS types the characters on the
Option layer of the keyboard unless the terminal is set to "Option as Meta". Letters are left out, although
xterm types "á" for Alt+A: people write them.
"""

from __future__ import annotations

_OPTION = dict(zip("∑π¡™£¢∞§¶•ª", ("w", "p", "1", "2", "3", "4", "5", "6", "7", "8", "9"), strict=True))
"""The keys of the characters on the Option layer of an American keyboard."""


def alt_keys_of(character: str) -> tuple[str, ...]:
    """Return the keys for which a terminal can have typed this character, in Textual's spelling."""
    keys = [_OPTION[character]] if character in _OPTION else []
    if len(character) == 1 and 0xA0 < ord(character) <= 0xFF and not character.isalpha():
        keys.append(chr(ord(character) - 0x80))
    return tuple(f"alt+{key}" for key in keys if key.isalnum())

"""Replaces invisible characters in commands, paths and option names with visible stand-ins.

In text that the user is asked to approve, such characters can hide something or make two names look the same.
In prose many are legitimate (in emoji, Persian words and French punctuation); `safe_text.visible` keeps them.
"""

from __future__ import annotations

import re
from collections import Counter

from acp_tui.session.text.safe_text import visible, visible_line

_INVISIBLE = re.compile(
    "["
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"  # spaces other than U+0020
    "]"
)
"""Unicode's default ignorable characters, fillers, blanks, and all spaces except U+0020."""
_TAGS = range(0xE0000, 0xE0080)
MAX_NAMED = 3
"""The maximum number of kinds of invisible characters to list by name. The others are only counted."""


def reveal(text: str) -> str:
    """Make text safe to display, with a stand-in such as ‹200b› for each invisible character."""
    if text.isascii():
        return visible(text)
    return _INVISIBLE.sub(_stand_in, visible(text))


def reveal_line(text: str) -> str:
    """Like `reveal`, but puts the text on one line."""
    return reveal(visible_line(text))


def invisible_characters(*texts: str) -> str:
    """Describe the invisible characters in texts: "ZERO WIDTH SPACE (U+200B), 2 × WORD JOINER (U+2060)"."""
    counts = Counter(_name(char) for text in texts if not text.isascii() for char in _INVISIBLE.findall(text))
    named = [name if count == 1 else f"{count} × {name}" for name, count in counts.most_common(MAX_NAMED)]
    if rest := len(counts) - len(named):
        named.append(f"{rest} other kind{'' if rest == 1 else 's'}")
    return ", ".join(named)


def _stand_in(match: re.Match[str]) -> str:
    return f"‹{ord(match[0]):02x}›"


def _name(char: str) -> str:
    if ord(char) in _TAGS:
        return "tag character (U+E0000 block)"
    import unicodedata  # rarely needed

    return f"{unicodedata.name(char, 'unassigned character')} (U+{ord(char):04X})"

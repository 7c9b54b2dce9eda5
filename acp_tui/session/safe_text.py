"""Makes text safe to display.

Terminals interpret control characters, so text from agents must never reach a terminal unchanged.
JSON from agents is limited in depth before recursive code walks it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 64
"""The maximum number of levels: far more than any protocol needs, far fewer than Python's recursion limit."""
CUT = "…"


def exceeds_depth(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return True if the value is nested more than `depth` levels deep. Does not recurse."""
    level = _containers([value])
    for _ in range(depth):
        if not level:
            return False
        level = [
            item
            for outer in level
            for item in _containers(outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, (dict, list))]


def limit_depth(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return the value with everything deeper than `depth` replaced by an ellipsis."""
    return _cut(value, depth) if exceeds_depth(value, depth) else value


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item, depth - 1) for key, item in value.items()} if depth else CUT
    if isinstance(value, list):
        return [_cut(item, depth - 1) for item in value] if depth else CUT
    return value


# Characters that move the cursor, start an escape sequence, reorder the line (bidi controls), break it (line
# and paragraph separators) or are half a character (surrogates), and those that can only hide something: zero
# width spaces, word joiners, fillers and tags. Joiners and variation selectors are parts of emoji and words.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_LINE_BREAKS = re.compile("\r?\n")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def _stand_in(match: re.Match[str]) -> str:
    """Return a visible stand-in for a dangerous character."""
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)  # ␛, ␍, …
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return REPLACEMENT
    return f"‹{code:02x}›"


def escape_controls(text: str) -> str:
    """Replace dangerous characters by visible stand-ins, and `\\r\\n` by `\\n`."""
    if not UNSAFE.search(text):
        return text
    text = _LINE_BREAKS.sub("\n", _pair(text))
    return UNSAFE.sub(_stand_in, text)


def escape_line(text: str) -> str:
    """Make text safe as `escape_controls` does, and put it on one line: for titles, names and paths."""
    text = escape_controls(text)
    return " ".join(text.split("\n")).replace("\t", " ") if "\n" in text or "\t" in text else text


def visible_row(text: str) -> str:
    """Make text safe as `escape_controls` does, for one row of a screen: tabs and newlines become symbols."""
    text = escape_controls(text)
    return text.replace("\n", "␊").replace("\t", "␉") if "\n" in text or "\t" in text else text


_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Matches what is removed from pasted text: the characters in `UNSAFE` that do more than hide something."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Matches a complete escape sequence, such as one for a colour, a window title or a link."""


def strip_controls(text: str) -> str:
    """Remove dangerous characters and escape sequences from pasted text, so that it is sent as shown."""
    text = _pair(text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _SEQUENCE.sub("", text) if "\x1b" in text else text)


_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def escape_json(text: str) -> str:
    """Escape dangerous characters in JSON text, so that it is safe to print and has the same meaning.

    C0 controls are not handled, because JSON does not allow them in strings.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)


def json_text(value: Any, *, ascii_only: bool = False, indent: int | None = None) -> str:
    """Return a JSON value as text that is safe to print."""
    return escape_json(json.dumps(value, indent=indent, ensure_ascii=ascii_only))


def visible_json(value: Any) -> str:
    """Return a JSON value as indented text that is safe to display."""
    return escape_controls(json.dumps(limit_depth(value), indent=2, ensure_ascii=False))


def visible_excerpt(value: Any, length: int) -> str:
    """Return the first `length` characters of a JSON value, on one line. "…" marks omitted text.

    Encoding stops when `length` is exceeded, so the size of a list or object does not affect the cost.
    """
    pieces: list[str] = []
    size = 0
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            pieces.append(piece[:length])
            size += len(piece)
            if size > length:
                break
    except RecursionError:
        pieces.append("…")
    text = "".join(pieces)
    return escape_line(text if size <= length else f"{text[:length]}…")


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _pair(text: str) -> str:
    """Combine each surrogate pair into one character. The halves of a pair can come from two chunks."""
    return _PAIR.sub(
        lambda pair: chr(0x10000 + ((ord(pair[0][0]) - 0xD800) << 10) + ord(pair[0][1]) - 0xDC00), text
    )


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


def escape_invisible(text: str) -> str:
    """Make text safe to display, with a stand-in such as ‹200b› for each invisible character."""
    if text.isascii():
        return escape_controls(text)
    return _INVISIBLE.sub(_invisible_stand_in, escape_controls(text))


def escape_invisible_line(text: str) -> str:
    """Like `reveal`, but puts the text on one line."""
    return escape_invisible(escape_line(text))


def invisible_characters(*texts: str) -> str:
    """Describe the invisible characters in texts: "ZERO WIDTH SPACE (U+200B), 2 × WORD JOINER (U+2060)"."""
    counts = Counter(_name(char) for text in texts if not text.isascii() for char in _INVISIBLE.findall(text))
    named = [name if count == 1 else f"{count} × {name}" for name, count in counts.most_common(MAX_NAMED)]
    if rest := len(counts) - len(named):
        named.append(f"{rest} other kind{'' if rest == 1 else 's'}")
    return ", ".join(named)


def _invisible_stand_in(match: re.Match[str]) -> str:
    return f"‹{ord(match[0]):02x}›"


def _name(char: str) -> str:
    if ord(char) in _TAGS:
        return "tag character (U+E0000 block)"
    import unicodedata  # rarely needed

    return f"{unicodedata.name(char, 'unassigned character')} (U+{ord(char):04X})"

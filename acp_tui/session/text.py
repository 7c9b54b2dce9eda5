"""Makes text safe to display, and appends chunks to a text without copying it.

Terminals interpret control characters, so text from agents must never reach a terminal unchanged. The result
does not depend on how the text was split into chunks.
"""

from __future__ import annotations

import json
import re
from typing import Any

from acp_tui.session.json_depth import limit_depth

# Characters that move the cursor, start an escape sequence, reorder the line (bidi controls), break it (line
# and paragraph separators) or are half a character (surrogates).
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
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


def visible(text: str) -> str:
    """Replace dangerous characters by visible stand-ins, and `\\r\\n` by `\\n`."""
    if not _UNSAFE.search(text):
        return text
    text = _LINE_BREAKS.sub("\n", _pair(text))
    return _UNSAFE.sub(_stand_in, text)


def visible_line(text: str) -> str:
    """Make a text safe as `visible` does, and put it on one line: for titles, names and paths."""
    text = visible(text)
    return " ".join(text.split("\n")).replace("\t", " ") if "\n" in text or "\t" in text else text


def visible_row(text: str) -> str:
    """Make a text safe as `visible` does, for one row of a screen: tabs and newlines become symbols."""
    text = visible(text)
    return text.replace("\n", "␊").replace("\t", "␉") if "\n" in text or "\t" in text else text


_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Matches a complete escape sequence, such as one for a colour, a window title or a link."""


def strip_controls(text: str) -> str:
    """Remove dangerous characters and escape sequences from pasted text, so that it is sent as shown."""
    text = _pair(text).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub("", _SEQUENCE.sub("", text) if "\x1b" in text else text)


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
    return visible(json.dumps(limit_depth(value), indent=2, ensure_ascii=False))


def visible_excerpt(value: Any, length: int) -> str:
    """Return up to `length` characters of a JSON value, on one line. The cost is independent of its size."""
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
    return visible_line(text if size <= length else f"{text[:length]}…")


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _pair(text: str) -> str:
    """Combine each surrogate pair into one character. Its halves may come from two chunks."""
    return _PAIR.sub(
        lambda pair: chr(0x10000 + ((ord(pair[0][0]) - 0xD800) << 10) + ord(pair[0][1]) - 0xDC00), text
    )


# --------------------------------------------------------------------------- growing texts


CHUNKS_PER_PART = 256
"""The number of chunks that are joined into one string, to save memory."""


class GrowingText:
    """A text that grows by appending, without being copied. Each chunk is made safe to display.

    A CR or half of a surrogate pair at the end of a chunk is held back until the next chunk, because its
    meaning depends on what follows.
    """

    __slots__ = ("_carry", "_large", "_parts", "length")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self._large = 0  # the number of parts made of many chunks, at the beginning of `_parts`
        self._carry = ""
        self.length = 0
        """The length without a held-back character. `since(length)` returns what is appended later."""
        if text:
            self.append(text)

    def append(self, chunk: str) -> None:
        if self._carry or _UNSAFE.search(chunk):
            chunk = self._carry + chunk
            last = chunk[-1:]
            self._carry = last if last == "\r" or "\ud800" <= last <= "\udbff" else ""
            if self._carry:
                chunk = chunk[:-1]
            chunk = visible(chunk)
        if chunk:
            self._parts.append(chunk)
            self.length += len(chunk)
            if len(self._parts) - self._large >= CHUNKS_PER_PART:
                self._parts[self._large :] = ["".join(self._parts[self._large :])]
                self._large += 1

    def since(self, position: int) -> str:
        """Return the text from a position on, except a character that is held back.

        The cost depends only on the length of the result.
        """
        if position <= 0:
            return self._joined()
        missing = self.length - position
        found: list[str] = []
        for part in reversed(self._parts):
            if missing <= 0:
                break
            found.append(part if len(part) <= missing else part[-missing:])
            missing -= len(part)
        return "".join(reversed(found))

    @property
    def pending(self) -> str:
        """The held-back character at the end of the text, made safe to display; empty if there is none."""
        return visible(self._carry) if self._carry else ""

    def _joined(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
            self._large = 1
        return self._parts[0] if self._parts else ""

    def __str__(self) -> str:
        return self._joined() + self.pending

    def __bool__(self) -> bool:
        return bool(self._parts or self._carry)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingText) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"GrowingText({str(self)!r})"

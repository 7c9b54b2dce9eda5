"""Shell quoting: backslash escapes, `$'…'`, and the text between backticks."""

from __future__ import annotations

import re
import sys

_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{1,2})|u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})"
    r"|(?P<sign>.))",
    re.DOTALL,
)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}


def find_end(text: str, start: int, quote: str) -> int:
    """Return the position of the first unescaped `quote` from `start` on; -1 if there is none."""
    found = re.compile(rf"(?:[^\\{quote}]++|\\.)*+{quote}", re.DOTALL).match(text, start)
    return found.end() - 1 if found else -1


def replace_escapes(text: str) -> str:
    """Replace backslash escapes in a text as the shell does in `$'…'` and in the format of `printf`."""
    return _ESCAPE.sub(_replacement, text)


def unescape_backticks(text: str, *, quoted: bool) -> str:
    """Remove the backslashes that escape characters of a command between backticks.

    `quoted` means that the backticks themselves are in double quotes.
    """
    return re.sub(r"\\([$`\\\"])" if quoted else r"\\([$`\\])", r"\1", text)


def _replacement(escape: re.Match[str]) -> str:
    if escape["sign"]:
        return _ESCAPED.get(escape["sign"], escape["sign"])
    number = escape["x"] or escape["u"] or escape["U"]
    code = int(number, 16) if number else int(escape["octal"], 8)
    return chr(code) if 0 < code <= sys.maxunicode else ""

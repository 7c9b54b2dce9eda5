"""Shell quoting: backslash escapes, `$'…'`, and the text between backticks."""

from __future__ import annotations

import re
import sys

_ESCAPE = re.compile(
    r"\\(?:x(?:\{(?P<braced>[0-9a-fA-F]*)\}?|(?P<x>[0-9a-fA-F]{1,2}))|u(?P<u>[0-9a-fA-F]{1,4})"
    r"|U(?P<U>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})|(?P<nul>c@)|(?P<sign>.))",
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
    """Replace backslash escapes in a text as shells do in `$'…'` and in the format of `printf`.

    The result can contain NUL, which ends the text in `$'…'`.
    """
    return _ESCAPE.sub(_replacement, text)


def unescape_backticks(text: str, *, quoted: bool) -> str:
    """Remove the backslashes that escape characters of a command between backticks.

    `quoted` means that the backticks themselves are in double quotes.
    """
    return re.sub(r"\\([$`\\\"])" if quoted else r"\\([$`\\])", r"\1", text)


def _replacement(escape: re.Match[str]) -> str:
    if escape["sign"]:  # bash keeps the backslash of an unknown escape, zsh removes it
        return _ESCAPED.get(escape["sign"], escape["sign"])
    if escape["nul"]:
        return "\0"
    if escape["octal"]:
        return chr(int(escape["octal"], 8) & 0xFF)
    if escape["braced"] is not None:
        return chr(int(escape["braced"] or "0", 16) & 0xFF)
    code = int(escape["x"] or escape["u"] or escape["U"], 16)
    return chr(code) if code <= sys.maxunicode else ""

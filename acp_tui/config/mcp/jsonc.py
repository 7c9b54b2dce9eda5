"""Reads JSON with comments and trailing commas, and finds the lines of keys."""

from __future__ import annotations

import json
import re

# The quote at the end is optional: a search that fails at each of 500,000 quotes would take minutes.
_STRING = r'"(?:\\.|[^"\\])*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
MAX_KEY_DEPTH = 4
"""The depth of objects down to which `key_lines` reports keys."""
MAX_DEPTH = 50
"""The maximum depth of nesting. The `json` module reads about 1,000 levels, but cannot always write them."""

_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],]", re.DOTALL)


def without_comments(text: str) -> str:
    """Return plain JSON: comments and trailing commas become spaces, to keep the line and column numbers."""
    text = _COMMENT.sub(_blank, text)
    return _TRAILING_COMMA.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return match[1] or re.sub(r"[^\n]", " ", match[0])


def key_lines(text: str) -> tuple[dict[tuple[str, ...], int], set[tuple[str, ...]]]:
    """Return the line of each key in valid JSON, by the path of the key, and the keys that are repeated.

    The first line is 1. A key that is repeated in an object has the line of its last occurrence. Keys deeper
    than `MAX_KEY_DEPTH` and keys inside arrays are left out. Raises `RecursionError` for more levels than
    `MAX_DEPTH`.
    """
    lines: dict[tuple[str, ...], int] = {}
    repeated: set[tuple[str, ...]] = set()
    path: list[str] = []
    open_brackets: list[str] = []
    expects_key = False
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", counted, token.start())
        counted = token.start()
        match token[0]:
            case "{" | "[" as bracket:
                open_brackets.append(bracket)
                if len(open_brackets) > MAX_DEPTH:
                    raise RecursionError
                path.append("")
                expects_key = bracket == "{"
            case "}" | "]":
                open_brackets.pop()
                path.pop()
                expects_key = False
            case ",":
                expects_key = open_brackets[-1] == "{"
            case string if expects_key:
                expects_key = False
                if len(path) <= MAX_KEY_DEPTH and "[" not in open_brackets:
                    path[-1] = json.loads(string)
                    if tuple(path) in lines:
                        repeated.add(tuple(path))
                    lines[tuple(path)] = line
    return lines, repeated

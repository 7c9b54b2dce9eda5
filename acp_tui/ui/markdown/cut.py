"""Finds where to cut a long paragraph into sections: outside inline markup, before a space if possible."""

from __future__ import annotations

import re
from bisect import bisect_left

_MARKUP = re.compile(
    r"\\."  # an escaped character
    r"|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"  # a code span
    r"|<[^<> ]+>"
    r"|(?P<opener>!?\[|`+)"
    r"|(?P<closer>\](?:\([^()]*\)|\[[^\[\]]*\])?)"
    r"|(?P<emphasis>\*+|_+|~~)",
    re.DOTALL,
)
_SPACE_BETWEEN_WORDS = re.compile(r"(?<=[^ \t>]) (?=[^ \t<])")  # not next to `<br>`
_LOOKBEHIND = 2000
"""The number of characters at the end of a text that `has_open_markup` examines."""
_MAX_NESTING = 50
"""A closing mark, such as `**`, is compared with this many opening marks at most, to keep the cost linear."""


def cut_position(text: str) -> int:
    """Return where to cut a text: a position in its second half, or its end."""
    half = len(text) // 2
    spans, openers = _find_markup(text)
    open_from = next((start for start in openers if start > half), len(text))
    spaces = [match.start() for match in _SPACE_BETWEEN_WORDS.finditer(text, half + 1)]
    outside = [space for space in spaces if not _is_inside(space, spans)]
    before_open = outside[: bisect_left(outside, open_from)]
    for candidates in (before_open, outside, spaces):
        if candidates:
            return candidates[-1]
    return max(text.rfind(" ", half + 1), text.rfind("\t", half + 1), 0) or open_from


def has_open_markup(text: str) -> bool:
    """Return True if inline markup seems to be open at the end of the text."""
    return bool(_find_markup(text[-_LOOKBEHIND:])[1])


def _find_markup(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the spans of inline markup in order, and the starts of markup that is not closed.

    The result is an estimate; only the parser knows for certain.
    """
    spans: list[tuple[int, int]] = []
    openers: list[tuple[str, int]] = []  # marks that are not closed yet, with their positions
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["opener"]:
            openers.append((match["opener"][-1], start))
        elif match["closer"]:
            _close("[", end, spans, openers)
        elif match["emphasis"]:
            before, mark, after = text[start - 1 : start] or " ", text[start], text[end : end + 1] or " "
            if mark == "_" and before.isalnum() and after.isalnum():
                continue
            if before.isspace() or not _close(mark, end, spans, openers):
                openers += [] if after.isspace() else [(mark, start)]
        else:
            spans.append((start, end))
    return spans, [start for _, start in openers]


def _close(mark: str, end: int, spans: list[tuple[int, int]], openers: list[tuple[str, int]]) -> bool:
    """Close the last opener of `mark` and add the span to `spans`. Return False if no opener is found."""
    for index in range(len(openers) - 1, max(-1, len(openers) - _MAX_NESTING - 1), -1):
        if openers[index][0] == mark:
            start = openers[index][1]
            del openers[index:]
            while spans and spans[-1][0] > start:  # nested markup
                spans.pop()
            spans.append((start, end))
            return True
    return False


def _is_inside(position: int, spans: list[tuple[int, int]]) -> bool:
    index = bisect_left(spans, (position,)) - 1
    return index >= 0 and position < spans[index][1]

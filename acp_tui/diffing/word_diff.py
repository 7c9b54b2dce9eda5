"""Finds the words that differ between two lines."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

CharRange = tuple[int, int]
"""Start and end (exclusive) of a range of characters."""

_TOKENS = re.compile(r"\w+|[^\S\n]+|.", re.DOTALL)
MAX_CHARACTERS = 2_000
"""The maximum length of a line to compare by words.

Of a longer line only this many characters are compared, and only the common beginning and end are found.
"""
MAX_TOKENS = 200
"""The maximum number of words to compare one by one. Longer differing parts are marked as a whole."""
MIN_SIMILARITY = 0.35
"""The share of unchanged text below which the whole line counts as changed, and no words are marked."""


def changed_words(old: str, new: str) -> tuple[list[CharRange], list[CharRange]]:
    """Return the ranges in which two lines differ: one list for `old`, and one for `new`.

    Both lists are empty if the lines are equal or have little in common. Differences after the first
    `MAX_CHARACTERS` characters of a line are left out.
    """
    if old == new:
        return [], []
    if len(old) > MAX_CHARACTERS or len(new) > MAX_CHARACTERS:
        before, after = list(old[:MAX_CHARACTERS]), list(new[:MAX_CHARACTERS])
        exact = False
    else:
        before, after = _TOKENS.findall(old), _TOKENS.findall(new)
        exact = True
    start, end = _common_ends(before, after)
    middle_old, middle_new = before[start : len(before) - end], after[start : len(after) - end]
    if exact and len(middle_old) <= MAX_TOKENS and len(middle_new) <= MAX_TOKENS:
        codes = SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes()
    else:
        codes = [("replace", 0, len(middle_old), 0, len(middle_new))]
    differing = [code for code in codes if code[0] != "equal"]
    marks = (
        _char_ranges(before, [(start + i1, start + i2) for _, i1, i2, _, _ in differing]),
        _char_ranges(after, [(start + j1, start + j2) for _, _, _, j1, j2 in differing]),
    )
    return marks if _similarity(old, marks[0], new, marks[1]) >= MIN_SIMILARITY else ([], [])


def _common_ends(a: list[str], b: list[str]) -> tuple[int, int]:
    shorter = min(len(a), len(b))
    start = 0
    while start < shorter and a[start] == b[start]:
        start += 1
    end = 0
    while end < shorter - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return start, end


def _char_ranges(tokens: list[str], ranges: list[tuple[int, int]]) -> list[CharRange]:
    """Convert ranges of tokens to ranges of characters. Join ranges that are separated by whitespace only."""
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    found: list[CharRange] = []
    last = 0  # the index of the token after the previous range
    for first, after in ranges:
        if first == after:
            continue
        if found and not "".join(tokens[last:first]).strip():
            found[-1] = (found[-1][0], ends[after])
        else:
            found.append((ends[first], ends[after]))
        last = after
    return found


def _similarity(old: str, old_marks: list[CharRange], new: str, new_marks: list[CharRange]) -> float:
    """Return the share of unmarked characters in both lines together, ignoring whitespace."""
    total = changed = 0
    for text, marks in ((old, old_marks), (new, new_marks)):
        total += len("".join(text.split()))
        changed += sum(len("".join(text[start:end].split())) for start, end in marks)
    return 1 - changed / total if total else 1.0

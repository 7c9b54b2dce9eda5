"""The classes for hunks and rows.

`difference` makes hunks by comparing two texts; `patch` reads hunks from a patch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

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
NO_NEWLINE = "No newline at end of file"
Kind = Literal["same", "removed", "added", "gap", "note", "more", "file"]


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


class Row(NamedTuple):
    """A row of the unified view, which shows the old and new lines of a difference in one column."""

    kind: Kind
    text: str
    old: int | None = None  # the line number in the old text, from 1
    new: int | None = None
    change: LineChange | None = None  # the change that it is part of
    at: int = 0  # the index in the removed or added lines of the change

    @property
    def is_line(self) -> bool:
        """Whether this row is a line of the old or the new text, and not a gap or a note."""
        return self.kind in ("same", "removed", "added")


class LineChange:
    """Removed lines and the lines that replaced them. One of the two lists can be empty."""

    __slots__ = ("_marks", "added", "added_open", "removed", "removed_open")

    def __init__(
        self,
        removed: Sequence[str],
        added: Sequence[str],
        *,
        removed_open: bool = False,
        added_open: bool = False,
    ) -> None:
        self.removed = removed
        self.added = added
        self.removed_open = removed_open
        """Whether the newline after the last removed line is missing."""
        self.added_open = added_open
        self._marks: dict[int, tuple[list[CharRange], list[CharRange]]] = {}

    def pair(self, at: int) -> tuple[str, str] | None:
        """Return the removed and the added line at index `at`; None unless both exist."""
        if at < len(self.removed) and at < len(self.added):
            return self.removed[at], self.added[at]
        return None

    def marks(self, row: Row) -> list[CharRange]:
        """Return the ranges of a row's text that differ from the text of its counterpart.

        The counterpart of a removed line is the line that replaced it, and the other way round. The result is
        empty if the row has no counterpart, or if the two texts have little in common.
        """
        pair = self.pair(row.at)
        if pair is None:
            return []
        if row.at not in self._marks:
            self._marks[row.at] = changed_words(*pair)
        return self._marks[row.at][row.kind == "added"]


class Hunk(NamedTuple):
    """Changes close to each other, and the unchanged lines around them."""

    parts: list[Sequence[str] | LineChange]
    old: int  # the number of the hunk's first line in the old text
    new: int
    hidden: int | None = None  # unchanged lines omitted before it; None if unknown
    heading: str = ""  # from the hunk header of a patch, such as the enclosing function
    notes: tuple[str, ...] = ()  # lines before it, such as the name of another file

    @property
    def changes(self) -> Iterator[LineChange]:
        """The changes, without the unchanged lines."""
        return (part for part in self.parts if isinstance(part, LineChange))

    @property
    def size(self) -> int:
        """The number of lines in the hunk."""
        return sum(
            len(part.removed) + len(part.added) if isinstance(part, LineChange) else len(part)
            for part in self.parts
        )

    def rows(self) -> Iterator[Row]:
        """Yield the rows of `parts`: the lines, and notes about missing newlines."""
        old, new = self.old, self.new
        for part in self.parts:
            if isinstance(part, LineChange):
                yield from _change_rows(part, old, new)
                old += len(part.removed)
                new += len(part.added)
            else:
                for text in part:
                    yield Row("same", text, old, new)
                    old += 1
                    new += 1


def _change_rows(change: LineChange, old: int, new: int) -> Iterator[Row]:
    for at, text in enumerate(change.removed):
        yield Row("removed", text, old + at, None, change, at)
    if change.removed_open:
        yield Row("note", NO_NEWLINE, old, None, change)
    for at, text in enumerate(change.added):
        yield Row("added", text, None, new + at, change, at)
    if change.added_open:
        yield Row("note", NO_NEWLINE, None, new, change)

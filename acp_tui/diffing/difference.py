"""The difference between two versions of a text, or the content of a patch."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from acp_tui.diffing.changed_lines import Block, changed_blocks
from acp_tui.diffing.hunks import Hunk, LineChange, Row
from acp_tui.diffing.patch import read_patch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONTEXT_LINES = 3
"""Unchanged lines that are shown around what changed."""
MIN_HIDDEN_LINES = 3
CACHE_SIZE = 32
"""Cached comparisons: a change of width or theme does not compute them again."""


class Difference:
    """A list of hunks. Rows are computed lazily."""

    def __init__(self, hunks: Sequence[Hunk], notes: Sequence[str] = ()) -> None:
        self.hunks = hunks
        self.notes = notes
        """Remarks to show before the rows."""
        self.added = sum(len(change.added) for hunk in hunks for change in hunk.changes)
        """Lines that were not there before."""
        self.removed = sum(len(change.removed) for hunk in hunks for change in hunk.changes)
        """Lines that are gone."""

    def rows(self) -> Iterator[Row]:
        """The unified form: hunks in order, and rows for what is left out between them."""
        for number, hunk in enumerate(self.hunks):
            for note in hunk.notes:
                yield Row("note", note)
            if (number and hunk.hidden is None) or hunk.heading:
                yield Row("gap", hunk.heading)
            elif number and hunk.hidden:
                yield Row("gap", f"{hunk.hidden:,} unchanged lines")
            yield from hunk.rows()

    @property
    def line_count(self) -> int:
        """Number of rows that are lines of either text."""
        return sum(hunk.size for hunk in self.hunks)

    @cached_property
    def last_number(self) -> int:
        """The largest number of a line: how wide a column of them has to be."""
        return max((end for hunk in self.hunks for end in _ends(hunk)), default=0)

    @cached_property
    def old(self) -> Mapping[int, str]:
        """What is known of the old text, by line numbers: for colours, which need what comes before."""
        return {
            row.old: row.text for hunk in self.hunks for row in hunk.rows() if row.old and row.kind != "note"
        }

    @cached_property
    def new(self) -> Mapping[int, str]:
        """What is known of the new text."""
        return {
            row.new: row.text for hunk in self.hunks for row in hunk.rows() if row.new and row.kind != "note"
        }

    @property
    def one_sided(self) -> bool:
        """True if lines were only added or only removed."""
        return not (self.added and self.removed)


class _Compared(Difference):
    """The difference of two whole texts: all lines are known."""

    def __init__(self, old: list[str], new: list[str], hunks: list[Hunk], first: int) -> None:
        super().__init__(hunks)
        self._old_lines = old
        self._new_lines = new
        self._first = first

    @cached_property
    def old(self) -> Mapping[int, str]:
        return dict(enumerate(self._old_lines, self._first))

    @cached_property
    def new(self) -> Mapping[int, str]:
        return dict(enumerate(self._new_lines, self._first))


@lru_cache(maxsize=CACHE_SIZE)
def compare_texts(old: str | None, new: str | None, first: int = 1) -> Difference:
    """Two versions of a text; None: it was not there, or is not any more. `first` numbers the first line."""
    before, before_open = _lines(old)
    after, after_open = _lines(new)
    # A missing line end is a difference of the last lines, though not of their texts.
    differ = old is not None and new is not None and bool(before and after) and before_open != after_open
    if differ:
        (before if before_open else after)[-1] += "\0"
    blocks = changed_blocks(before, after)
    if differ:
        open_side = before if before_open else after
        open_side[-1] = open_side[-1][:-1]
    hunks = _hunks(before, after, blocks, first)
    if differ:
        _tell_open(hunks, blocks, len(before), len(after), old_open=before_open)
    return _Compared(before, after, hunks, first)


@lru_cache(maxsize=CACHE_SIZE)
def parse_patch(patch: str) -> Difference:
    """A difference that came as the text of a patch."""
    return Difference(*read_patch(patch))


def _lines(text: str | None) -> tuple[list[str], bool]:
    """The lines, and whether the last one has no line end."""
    if not text:
        return [], False
    lines = text.split("\n")
    if lines[-1]:
        return lines, True
    lines.pop()
    return lines, False


def _hunks(old: list[str], new: list[str], blocks: list[Block], first: int) -> list[Hunk]:
    hunks: list[Hunk] = []
    shown = 0  # lines of the old text that hunks have come to
    for group in _groups(blocks):
        start = max(0, group[0].i - CONTEXT_LINES)
        parts: list[Sequence[str] | LineChange] = []
        at = start
        for i, i_end, j, j_end in group:
            if at < i:
                parts.append(old[at:i])
            parts.append(LineChange(old[i:i_end], new[j:j_end]))
            at = i_end
        end = min(len(old), at + CONTEXT_LINES)
        if at < end:
            parts.append(old[at:end])
        new_start = group[0].j - (group[0].i - start)
        hunks.append(Hunk(parts, start + first, new_start + first, hidden=start - shown))
        shown = end
    return hunks


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks whose surroundings touch, or nearly so: a fold in place of a line or two would gain nothing."""
    group: list[Block] = []
    for block in blocks:
        if group and block.i - group[-1].i_end > 2 * CONTEXT_LINES + MIN_HIDDEN_LINES - 1:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _tell_open(hunks: list[Hunk], blocks: list[Block], old: int, new: int, *, old_open: bool) -> None:
    """Say which of the last lines has no line end. The last change holds it, since they differ by that."""
    last = blocks[-1]
    change = list(hunks[-1].changes)[-1]
    if old_open and last.i_end == old:
        change.removed_open = True
    elif not old_open and last.j_end == new:
        change.added_open = True


def _ends(hunk: Hunk) -> tuple[int, int]:
    """The last numbers of a hunk, old and new."""
    old, new = hunk.old - 1, hunk.new - 1
    for part in hunk.parts:
        if isinstance(part, LineChange):
            old += len(part.removed)
            new += len(part.added)
        else:
            old += len(part)
            new += len(part)
    return old, new

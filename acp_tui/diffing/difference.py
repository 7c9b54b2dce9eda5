"""The difference between two versions of the text, or the content of a patch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from acp_tui.diffing.hunks import Hunk, LineChange, Row
from acp_tui.diffing.line_diff import Block, changed_blocks
from acp_tui.diffing.patch import read_patch

CONTEXT_LINES = 3
"""Unchanged lines shown before and after a change."""
MIN_HIDDEN_LINES = 3
"""The minimum number of hidden lines between two hunks. If fewer would be hidden, they are shown."""
CACHE_SIZE = 32
"""The number of differences to cache. A diff is drawn again whenever the width or the theme changes."""


class Difference:
    """The changes between two versions of the text, grouped into hunks."""

    def __init__(self, hunks: Sequence[Hunk], notes: Sequence[str] = ()) -> None:
        self.hunks = hunks
        self.notes = notes
        """Remarks that follow the last hunk."""
        self.added = sum(len(change.added) for hunk in hunks for change in hunk.changes)
        """The number of added lines."""
        self.removed = sum(len(change.removed) for hunk in hunks for change in hunk.changes)
        """The number of removed lines."""

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the unified view, including the notes and one row for each gap between hunks."""
        for number, hunk in enumerate(self.hunks):
            for note in hunk.notes:
                yield Row("note", note)
            if (number and hunk.hidden is None) or hunk.heading:
                yield Row("gap", hunk.heading)
            elif number and hunk.hidden:
                yield Row("gap", f"{hunk.hidden:,} unchanged lines")
            yield from hunk.rows()
        for note in self.notes:
            yield Row("note", note)

    @property
    def line_count(self) -> int:
        """The number of unchanged, removed and added lines, without gaps and notes."""
        return sum(hunk.size for hunk in self.hunks)

    @cached_property
    def last_number(self) -> int:
        """The highest line number, which determines the width of the column of line numbers."""
        return max((end for hunk in self.hunks for end in _ends(hunk)), default=0)

    @cached_property
    def old(self) -> Mapping[int, str]:
        """The known lines of the old text, by number. A patch contains only some of the lines.

        Unchanged lines are included, because syntax highlighting needs the lines above a change, too.
        """
        return {
            row.old: row.text for hunk in self.hunks for row in hunk.rows() if row.old and row.kind != "note"
        }

    @cached_property
    def new(self) -> Mapping[int, str]:
        """The known lines of the new text, by number. See `old`."""
        return {
            row.new: row.text for hunk in self.hunks for row in hunk.rows() if row.new and row.kind != "note"
        }

    @property
    def one_sided(self) -> bool:
        """True unless there are both added and removed lines."""
        return not (self.added and self.removed)


class _FullDifference(Difference):
    """A difference between two complete texts."""

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
    """Return the difference between two versions of the text. None stands for a version that does not exist.

    `first` is the number that the first line of each text gets.
    """
    before, before_open = _lines(old)
    after, after_open = _lines(new)
    ends_differ = old is not None and new is not None and bool(before and after) and before_open != after_open
    if ends_differ:  # a final line without a newline must not be equal to one with a newline
        (before if before_open else after)[-1] += "\0"
    blocks = changed_blocks(before, after)
    if ends_differ:
        open_side = before if before_open else after
        open_side[-1] = open_side[-1][:-1]
    hunks = _hunks(before, after, blocks, first)
    if ends_differ:
        _mark_missing_newline(hunks, blocks, len(before), len(after), old_open=before_open)
    return _FullDifference(before, after, hunks, first)


def difference_of_blocks(
    old: list[str], new: list[str], blocks: Sequence[Block], *, open_ends: tuple[bool, bool] = (False, False)
) -> Difference:
    """Return the difference between two texts, given the blocks of lines that differ.

    Args:
        old: The old lines, without line ends.
        new: The new lines.
        blocks: The ranges of lines that differ.
        open_ends: For the old and for the new text, whether the newline after its last line is missing.
    """
    hunks = _hunks(old, new, list(blocks), 1)
    if old and new and open_ends[0] != open_ends[1]:
        _mark_missing_newline(hunks, list(blocks), len(old), len(new), old_open=open_ends[0])
    return _FullDifference(old, new, hunks, 1)


@lru_cache(maxsize=CACHE_SIZE)
def parse_patch(patch: str) -> Difference:
    """Return the difference that a patch describes."""
    return Difference(*read_patch(patch))


def _lines(text: str | None) -> tuple[list[str], bool]:
    """Return the lines of the text, and whether the newline after the last one is missing."""
    if not text:
        return [], False
    lines = text.split("\n")
    if lines[-1]:
        return lines, True
    lines.pop()
    return lines, False


def _hunks(old: list[str], new: list[str], blocks: list[Block], first: int) -> list[Hunk]:
    hunks: list[Hunk] = []
    shown = 0  # lines of the old text up to the end of the last hunk
    for group in group_blocks(blocks):
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


def group_blocks(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield groups of blocks that are close enough to share a hunk."""
    group: list[Block] = []
    for block in blocks:
        if group and block.i - group[-1].i_end > 2 * CONTEXT_LINES + MIN_HIDDEN_LINES - 1:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _mark_missing_newline(
    hunks: list[Hunk], blocks: list[Block], old: int, new: int, *, old_open: bool
) -> None:
    """Mark the last change if it contains the last line of the text without a final newline.

    That text is the old one if `old_open` is true, otherwise the new one. `old` and `new` are the line counts
    of the two texts.
    """
    last = blocks[-1]
    change = list(hunks[-1].changes)[-1]
    if old_open and last.i_end == old:
        change.removed_open = True
    elif not old_open and last.j_end == new:
        change.added_open = True


def _ends(hunk: Hunk) -> tuple[int, int]:
    """Return the last old and new line numbers of a hunk."""
    old, new = hunk.old - 1, hunk.new - 1
    for part in hunk.parts:
        if isinstance(part, LineChange):
            old += len(part.removed)
            new += len(part.added)
        else:
            old += len(part)
            new += len(part)
    return old, new

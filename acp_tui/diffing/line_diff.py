"""Finds the lines that differ between two texts.

difflib alone takes seconds for a few thousand lines. So lines that occur exactly once in each text are
matched first, as in a patience diff. Such anchors also make the result more readable. difflib compares only
the lines between anchors, and only as long as `MAX_PAIRS` is not exceeded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

ANCHOR_WINDOWS = (1, 3, 8, 24)
"""The sizes of the groups of lines to try as anchors: a group can be unique even if no single line is."""

MAX_PAIRS = 200_000
"""The maximum number of pairs of equal lines that difflib may consider when it compares two texts."""


class Block(NamedTuple):
    """A difference: `old[i:i_end]` was replaced by `new[j:j_end]`. One of these ranges can be empty."""

    i: int
    i_end: int
    j: int
    j_end: int


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return the blocks that differ, in order, with at least one equal line between them."""
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in old]  # numbers are compared faster than lines
    b = [numbers.setdefault(line, len(numbers)) for line in new]
    return list(_merge_adjacent(_Comparison(a, b).run()))


class _Comparison:
    """One comparison of two texts, with a limit on its work."""

    def __init__(self, a: list[int], b: list[int]) -> None:
        self._a = a
        self._b = b
        self._pairs_left = MAX_PAIRS

    def run(self) -> list[Block]:
        found: list[Block] = []
        todo = [(Block(0, len(self._a), 0, len(self._b)), 0)]
        while todo:
            block, window = todo.pop()
            block = self._trim(block)
            if block.i == block.i_end or block.j == block.j_end:
                if block.i != block.i_end or block.j != block.j_end:
                    found.append(block)
            elif gaps := self._gaps(block, ANCHOR_WINDOWS[window]):
                # Lines that occur elsewhere too may be unique within a gap.
                todo += [(gap, window) for gap in reversed(gaps)]
            elif window + 1 < len(ANCHOR_WINDOWS):
                todo.append((block, window + 1))
            else:
                found += self._compare(block)
        return found

    def _trim(self, block: Block) -> Block:
        """Return a block without the equal lines at its beginning and at its end."""
        a, b = self._a, self._b
        i, i_end, j, j_end = block
        while i < i_end and j < j_end and a[i] == b[j]:
            i += 1
            j += 1
        while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
            i_end -= 1
            j_end -= 1
        return Block(i, i_end, j, j_end)

    def _gaps(self, block: Block, window: int) -> list[Block]:
        """Return the parts of a block before, between and after its anchors; [] if it has no anchors."""
        anchors = _longest_ordered_pairs(
            _unique(self._a, block.i, block.i_end, window), _unique(self._b, block.j, block.j_end, window)
        )
        if not anchors:
            return []
        gaps: list[Block] = []
        i, j = block.i, block.j
        for at_i, at_j in anchors:
            if at_i < i or at_j < j:
                continue  # windows overlap
            if at_i > i or at_j > j:
                gaps.append(Block(i, at_i, j, at_j))
            i, j = at_i + window, at_j + window
        gaps.append(Block(i, block.i_end, j, block.j_end))
        return gaps

    def _compare(self, block: Block) -> list[Block]:
        """Return the differences that difflib finds; the whole block if `MAX_PAIRS` is exceeded."""
        i, i_end, j, j_end = block
        a, b = self._a[i:i_end], self._b[j:j_end]
        in_b = Counter(b)
        pairs = sum(count * in_b[line] for line, count in Counter(a).items() if line in in_b)
        self._pairs_left -= pairs
        if not pairs or self._pairs_left < 0:
            return [block]
        matcher = SequenceMatcher(None, a, b, autojunk=False)
        return [
            Block(i + i1, i + i2, j + j1, j + j2)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
            if tag != "equal"
        ]


def _unique(lines: list[int], start: int, end: int, window: int) -> dict[Hashable, int]:
    """Map each line that occurs exactly once in `lines[start:end]` to its position.

    If `window` is greater than 1, map groups of `window` consecutive lines instead.
    """
    part = lines[start:end]
    keys: list[Hashable] = (
        list(part) if window == 1 else list(zip(*(part[shift:] for shift in range(window)), strict=False))
    )
    counts = Counter(keys)
    return {key: at for at, key in enumerate(keys, start) if counts[key] == 1}


def _longest_ordered_pairs(a: dict[Hashable, int], b: dict[Hashable, int]) -> list[tuple[int, int]]:
    """Return the positions, in `a` and in `b`, of the longest series of keys with the same order in both.

    Patience sorting finds the series.
    """
    pairs = [(at, b[key]) for key, at in a.items() if key in b]  # already in the order of `a`
    tops: list[int] = []  # for each length, the smallest last `j` of a series
    at_top: list[int] = []  # … and the index of that pair
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        before.append(at_top[length - 1] if length else -1)
        if length == len(tops):
            tops.append(j)
            at_top.append(index)
        else:
            tops[length] = j
            at_top[length] = index
    series: list[tuple[int, int]] = []
    index = at_top[-1] if at_top else -1
    while index >= 0:
        series.append(pairs[index])
        index = before[index]
    series.reverse()
    return series


def _merge_adjacent(blocks: list[Block]) -> Iterator[Block]:
    pending: Block | None = None
    for block in blocks:
        if pending is not None and pending.i_end == block.i and pending.j_end == block.j:
            pending = Block(pending.i, block.i_end, pending.j, block.j_end)
            continue
        if pending is not None:
            yield pending
        pending = block
    if pending is not None:
        yield pending

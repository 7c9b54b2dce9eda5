"""Find the blocks of lines that differ.

difflib alone takes seconds for some thousand lines. So lines that are there once on both sides are found
first and taken as anchors (as in a patience diff), which also gives diffs that people find sensible; difflib
sees only what is between two anchors, and only as much as it can do quickly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

ANCHOR_WINDOWS = (1, 3, 8, 24)
"""How many lines together are looked for: where no single line is unique, several in a row may be."""

MAX_PAIRS = 200_000
"""How many pairs of equal lines difflib may look at, for all gaps of one comparison."""


class Block(NamedTuple):
    """`old[i:i_end]` became `new[j:j_end]`; one of them may be empty."""

    i: int
    i_end: int
    j: int
    j_end: int


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The stretches that differ, in order; at least one equal line is between two of them."""
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in old]  # comparing numbers is cheap
    b = [numbers.setdefault(line, len(numbers)) for line in new]
    found = _Search(a, b).run()
    return list(_joined(found))


class _Search:
    """One comparison, and how much work it may still do."""

    def __init__(self, a: list[int], b: list[int]) -> None:
        self._a = a
        self._b = b
        self._pairs_left = MAX_PAIRS

    def run(self) -> list[Block]:
        found: list[Block] = []
        todo = [(Block(0, len(self._a), 0, len(self._b)), 0)]
        while todo:
            block, window = todo.pop()
            block = self._trimmed(block)
            if block.i == block.i_end or block.j == block.j_end:
                if block.i != block.i_end or block.j != block.j_end:
                    found.append(block)
            elif gaps := self._around_anchors(block, ANCHOR_WINDOWS[window]):
                # Between anchors, lines may be unique that were not so in the whole.
                todo += [(gap, window) for gap in reversed(gaps)]
            elif window + 1 < len(ANCHOR_WINDOWS):
                todo.append((block, window + 1))
            else:
                found += self._by_difflib(block)
        return found

    def _trimmed(self, block: Block) -> Block:
        """Without the lines that are equal at the beginning and at the end."""
        a, b = self._a, self._b
        i, i_end, j, j_end = block
        while i < i_end and j < j_end and a[i] == b[j]:
            i += 1
            j += 1
        while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
            i_end -= 1
            j_end -= 1
        return Block(i, i_end, j, j_end)

    def _around_anchors(self, block: Block, window: int) -> list[Block]:
        """What is left between the anchors; nothing when there are none."""
        anchors = _in_order(
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

    def _by_difflib(self, block: Block) -> list[Block]:
        """Small or unlike stretches in detail; what would take long is said to be replaced as a whole."""
        i, i_end, j, j_end = block
        a, b = self._a[i:i_end], self._b[j:j_end]
        there = Counter(b)
        pairs = sum(count * there[line] for line, count in Counter(a).items() if line in there)
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
    """Where the lines (or windows of lines) are that occur once."""
    part = lines[start:end]
    keys: list[Hashable] = (
        list(part) if window == 1 else list(zip(*(part[shift:] for shift in range(window)), strict=False))
    )
    counts = Counter(keys)
    return {key: at for at, key in enumerate(keys, start) if counts[key] == 1}


def _in_order(a: dict[Hashable, int], b: dict[Hashable, int]) -> list[tuple[int, int]]:
    """The longest series of pairs that goes forward on both sides (patience sorting)."""
    pairs = [(at, b[key]) for key, at in a.items() if key in b]  # already in the order of `a`
    tops: list[int] = []  # the least last `j` of any series of that length
    at_top: list[int] = []  # … and which pair that is
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


def _joined(blocks: list[Block]) -> Iterator[Block]:
    """Merge blocks that touch."""
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

"""Who changed which lines of the text: the agent in one of its turns, or the user in between.

A set of authors is an integer of bits: `YOU` for the user, `CLOSED` for anybody while the session was closed,
`turn_bit(number)` for a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_

from acp_tui.diffing.line_diff import Block, changed_blocks

YOU = 1
"""The bit that stands for the user, or for another program that wrote between turns."""


CLOSED = 2
"""The bit that stands for whoever changed files between two runs of acp-tui."""


def turn_bit(number: int) -> int:
    """Return the bit that stands for the agent in a turn. Turns are numbered from 1."""
    return 2 << number


def is_by_others(authors: int) -> bool:
    """Return True if somebody other than the agent changed something, as far as it is known."""
    return bool(authors & (YOU | CLOSED))


def turns_of(authors: int) -> Iterator[int]:
    """Yield the numbers of the turns whose bits are set."""
    return (number for number in range(1, authors.bit_length() - 1) if authors & turn_bit(number))


def block_authors(
    versions: Sequence[Sequence[str]], authors: Sequence[int], blocks: Sequence[Block]
) -> tuple[int, ...]:
    """Return who changed each block of the text.

    Args:
        versions: All versions of the text, from the first to the current one.
        authors: Who made each version, except the first.
        blocks: The blocks in which the current version differs from the accepted one.
    """
    marks = _Marks(len(versions[0]))
    for (old, new), author in zip(pairwise(versions), authors, strict=True):
        marks.change(changed_blocks(old, new), author)
    return tuple(marks.of(block) for block in blocks)


class _Marks:
    """Who wrote each line or the lines it replaced, and who removed lines before, between or after lines."""

    def __init__(self, count: int) -> None:
        self._lines = [0] * count
        self._edges = [0] * (count + 1)

    def change(self, blocks: Sequence[Block], author: int) -> None:
        lines: list[int] = []
        edges = [self._edges[0]]
        at = 0
        for block in blocks:
            lines += self._lines[at : block.i]
            edges += self._edges[at + 1 : block.i + 1]
            both = author | _all(self._lines[block.i : block.i_end])
            both |= _all(self._edges[block.i + 1 : block.i_end])
            after = self._edges[block.i_end] if block.i_end > block.i else 0
            if count := block.j_end - block.j:
                lines += [both] * count
                edges += [*([0] * (count - 1)), after]
            else:
                edges[-1] |= both | after
            at = block.i_end
        self._lines = lines + self._lines[at:]
        self._edges = edges + self._edges[at + 1 :]

    def of(self, block: Block) -> int:
        found = _all(self._lines[block.j : block.j_end]) | _all(self._edges[block.j + 1 : block.j_end])
        if block.i_end > block.i:
            found |= self._edges[block.j] | self._edges[block.j_end]
        return found


def _all(bits: Sequence[int]) -> int:
    return reduce(or_, bits, 0)

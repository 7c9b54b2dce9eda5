"""A changed text as hunks that can be accepted or reverted one by one, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from acp_tui.diffing.difference import group_blocks
from acp_tui.diffing.line_diff import Block, changed_blocks

MAX_PREFIX_TO_CHECK = 8_000
"""How many bytes at the start of a file are searched for a NUL byte. Only binary files contain one."""


def is_text(data: bytes) -> bool:
    """Return True if a file with this content can be shown as lines. Bytes that are not UTF-8 are allowed."""
    return b"\0" not in data[:MAX_PREFIX_TO_CHECK]


def split_lines(data: bytes) -> tuple[str, ...]:
    """Split content into lines with their line endings. `join_lines` restores every byte."""
    parts = data.decode("utf-8", "surrogateescape").split("\n")
    last = parts.pop()
    return (*(f"{part}\n" for part in parts), *([last] if last else ()))


def join_lines(lines: Sequence[str]) -> bytes:
    """Return the content of a file. `lines` are the result of `split_lines`, or any of these lines."""
    return "".join(lines).encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class TextChange:
    """The lines of the text before and after a change, and the blocks that differ."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    blocks: tuple[Block, ...]
    authors: tuple[int, ...] = field(default=())
    """Who changed each block, see `authorship`; empty if that is unknown."""

    @classmethod
    def between(cls, old: bytes, new: bytes) -> TextChange:
        """Return the change between two versions of a file's content."""
        before, after = split_lines(old), split_lines(new)
        return cls(before, after, tuple(changed_blocks(before, after)))

    @cached_property
    def hunks(self) -> tuple[range, ...]:
        """The indexes of the blocks in each hunk."""
        found, at = [], 0
        for group in group_blocks(self.blocks):
            found.append(range(at, at + len(group)))
            at += len(group)
        return tuple(found)

    @cached_property
    def added(self) -> int:
        """The number of added lines."""
        return sum(block.j_end - block.j for block in self.blocks)

    @cached_property
    def removed(self) -> int:
        """The number of removed lines."""
        return sum(block.i_end - block.i for block in self.blocks)

    def authors_of(self, hunk: int) -> int:
        """Return the authors of a hunk as bits, see `authorship`; 0 if the authors are unknown."""
        found = 0
        for index in self.hunks[hunk]:
            found |= self.authors[index] if self.authors else 0
        return found

    def accept(self, hunk: int) -> TextChange:
        """Return the remaining change after a hunk was accepted: the old text now contains the hunk, too."""
        old: list[str] = []
        at = 0
        for index in self.hunks[hunk]:
            block = self.blocks[index]
            old += [*self.old[at : block.i], *self.new[block.j : block.j_end]]
            at = block.i_end
        shift = sum(_growth(self.blocks[index]) for index in self.hunks[hunk])
        rest = self.blocks[self.hunks[hunk].stop :]
        later = tuple(Block(one.i + shift, one.i_end + shift, one.j, one.j_end) for one in rest)
        return self._without(hunk, (*old, *self.old[at:]), self.new, later)

    def revert(self, hunk: int) -> TextChange:
        """Return the remaining change after a hunk was reverted: the new text no longer contains the hunk."""
        new: list[str] = []
        at = 0
        for index in self.hunks[hunk]:
            block = self.blocks[index]
            new += [*self.new[at : block.j], *self.old[block.i : block.i_end]]
            at = block.j_end
        shift = sum(_growth(self.blocks[index]) for index in self.hunks[hunk])
        rest = self.blocks[self.hunks[hunk].stop :]
        later = tuple(Block(one.i, one.i_end, one.j - shift, one.j_end - shift) for one in rest)
        return self._without(hunk, self.old, (*new, *self.new[at:]), later)

    def _without(
        self, hunk: int, old: tuple[str, ...], new: tuple[str, ...], later: tuple[Block, ...]
    ) -> TextChange:
        blocks = self.hunks[hunk]
        authors = (*self.authors[: blocks.start], *self.authors[blocks.stop :])
        return TextChange(old, new, (*self.blocks[: blocks.start], *later), authors)

    def find(self, other: TextChange, hunk: int) -> int | None:
        """Return the number of the only hunk that equals hunk number `hunk` of `other`.

        The unchanged lines around the hunks must be equal, too. Return None if no hunk, or more than one,
        is equal.
        """
        wanted = other.excerpt(hunk)
        found = [number for number in range(len(self.hunks)) if self.excerpt(number) == wanted]
        return found[0] if len(found) == 1 else None

    def excerpt(self, hunk: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the old and the new lines of a hunk with the unchanged lines around it."""
        from acp_tui.diffing.difference import CONTEXT_LINES

        first, last = self.blocks[self.hunks[hunk][0]], self.blocks[self.hunks[hunk][-1]]
        return (
            self.old[max(0, first.i - CONTEXT_LINES) : last.i_end + CONTEXT_LINES],
            self.new[max(0, first.j - CONTEXT_LINES) : last.j_end + CONTEXT_LINES],
        )


def _growth(block: Block) -> int:
    return (block.j_end - block.j) - (block.i_end - block.i)

"""Vertical positions of items that are stacked on each other and whose heights change."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Heights:
    """The heights of items stacked on each other. Changing the last item's height takes constant time."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._ends: list[int] = []  # the end row of each item; only the first `_valid` are current
        self._valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._heights)

    def append(self, height: int) -> None:
        self._heights.append(height)

    def __setitem__(self, index: int, height: int) -> None:
        if self._heights[index] != height:
            self._heights[index] = height
            self._valid = min(self._valid, index)

    def reset(self, heights: list[int]) -> None:
        self._heights = heights
        self._ends = []
        self._valid = 0

    def truncate(self, count: int) -> None:
        """Keep only the first `count` items."""
        del self._heights[count:]
        del self._ends[count:]
        self._valid = min(self._valid, count)

    @property
    def total(self) -> int:
        self._refresh()
        return self._ends[-1] if self._ends else 0

    def top(self, index: int) -> int:
        """Return the first row of an item."""
        self._refresh()
        return self._ends[index - 1] if index else 0

    def at(self, y: int) -> tuple[int, int]:
        """Return the index of the item at row `y`, and the row within that item.

        Past the end, return the index and the last row of the last item.
        """
        self._refresh()
        if not self._heights:
            return 0, 0
        index = bisect_right(self._ends, max(0, y))
        if index >= len(self._heights):
            index = len(self._heights) - 1
            return index, max(0, self._heights[index] - 1)
        return index, max(0, y) - self.top(index)

    def _refresh(self) -> None:
        if self._valid < len(self._heights):
            del self._ends[self._valid :]
            before = self._ends[-1] if self._ends else 0
            sums = accumulate(self._heights[self._valid :], initial=before)
            next(sums)
            self._ends.extend(sums)
            self._valid = len(self._heights)

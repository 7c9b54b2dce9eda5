"""The interface between the transcript view and the renderers of entries.

A *body* is one entry drawn at one width, line by line. To draw the screen, the view asks only for the lines
on the screen. An entry that was never near the visible area has no body; its height is estimated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

from rich.segment import Segment
from rich.style import Style

from acp_tui.console import pluralize
from acp_tui.ui.theme.palette import Palette, current_palette

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Session


@dataclass(frozen=True, slots=True)
class DrawContext:
    """The values that a body depends on besides the entry. When any of them changes, new bodies are made."""

    width: int  # cells, without the scrollbar; at least 20
    session: Session  # to look up tool calls and terminals
    folded: bool = False  # show the short form
    clock: Callable[[], float] | None = None  # the current time, for durations that grow
    cwd: str = ""  # paths below it are shown relative to it
    full: bool = False  # without length limits, for a screen that shows one entry
    keymap: Mapping[str, str] = field(default_factory=dict)  # the user's own key bindings
    palette: Palette = field(default_factory=current_palette)  # the body may be drawn in a variant of it


class Body(Protocol):
    """A drawn entry.

    The module `session.state` says which texts of an entry are safe to display. Make other texts and raw JSON
    safe with `safe_text.visible`.
    """

    @property
    def height(self) -> int:
        """The current number of lines; 0 if the entry is not shown."""

    def line(self, number: int) -> Strip:
        """Return one line, at most as wide as the context's width."""

    def copy_text(self) -> str:
        """Return the source text of the entry, for copying."""

    def update(self) -> bool:
        """Redraw what has changed in the entry. Return False if the caller must make a new body instead."""


class LongBody(Body, Protocol):
    """A body that draws its lines only when they are needed. Until then, its height is an estimate.

    To draw lines, first call `settle` for them, then read the height, then call `line`.
    """

    def settle(self, first: int, last: int) -> None:
        """Lay out lines `first` to `last`, so that their height is exact and no longer an estimate.

        `settle` can change the numbers of the lines after `first`.
        """

    def position_at(self, line: int) -> Any:
        """Return a position that still denotes the same line after heights above that line have changed."""

    def line_at(self, position: Any) -> int:
        """Return the current number of the line that a position from `position_at` denotes."""


class LinesBody:
    """A body whose lines are all drawn at once, for short entries and other short texts."""

    def __init__(self, lines: list[Strip], text: str) -> None:
        self._lines = lines
        self._text = text

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def line(self, number: int) -> Strip:
        return self._lines[number]

    def copy_text(self) -> str:
        """Return the source text."""
        return self._text

    def update(self) -> bool:
        """Return False, so that the caller makes a new body: drawing a short entry again is cheap."""
        return False


def more_lines(count: int) -> str:
    """Return the text that stands for omitted lines. Pass 0 if their number is unknown."""
    return f"▸ {pluralize(count, 'more line')}" if count else "▸ more"


def expander(text: str, look: Style) -> Segment:
    """Return a segment that stands for omitted lines. A click on it opens the full entry."""
    return Segment(text, look + Style.from_meta({"full_entry": True}))


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

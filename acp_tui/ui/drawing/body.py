"""The interface between the transcript view and the renderers of entries.

A *body* is one entry drawn at one width, line by line. To draw the screen, the view asks only for the lines
on the screen. An entry that was never near the visible area has no body; its height is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rich.segment import Segment
from rich.style import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.strip import Strip

    from acp_tui.session.state import Session
    from acp_tui.ui.theme.palette import Palette

Spans = list[Segment]
"""A line as styled segments, without control segments."""


@dataclass(frozen=True, slots=True)
class DrawContext:
    """The values that a body depends on besides the entry. When any of them changes, new bodies are made."""

    width: int  # cells, without the scrollbar; at least 20
    palette: Palette
    session: Session  # to look up tool calls and terminals
    folded: bool = False  # show the short form
    clock: Callable[[], float] | None = None  # the current time, for durations that grow
    cwd: str = ""  # paths below it are shown relative to it
    full: bool = False  # without length limits, for a screen that shows one entry
    keymap: Mapping[str, str] = field(default_factory=dict)  # the user's own key bindings


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


def expander(text: str, look: Style) -> Segment:
    """Return a segment that stands for omitted lines. A click on it opens the full entry."""
    return Segment(text, look + Style.from_meta({"full_entry": True}))

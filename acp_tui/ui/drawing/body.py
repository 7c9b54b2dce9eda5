"""What the view and the bodies of entries have in common.

A *body* is what one entry looks like at one width: so many lines, each made when it is needed. The view asks
for the lines that are on the screen and no others; it never asks a body of an entry that was never near the
screen, whose height is estimated instead.
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
"""One logical line as styled segments, without control segments."""


@dataclass(frozen=True, slots=True)
class DrawContext:
    """Everything besides the entry that a body depends on. A change of any of it means new bodies."""

    width: int  # cells, without the scrollbar; at least 20
    palette: Palette
    session: Session  # to be read: tool calls and terminals by their ids
    folded: bool = False  # show the short form
    now: Callable[[], float] | None = None  # for how long something has been going on
    cwd: str = ""  # paths below it are shown relative to it
    whole: bool = False  # nothing is cut short: for a screen that shows one thing alone
    keymap: Mapping[str, str] = field(default_factory=dict)  # keys that are bound otherwise than in the table


class Body(Protocol):
    """One drawn entry. Texts in entries are already safe to display; raw values go through `visible…`."""

    @property
    def height(self) -> int:
        """The current number of lines; 0 if nothing is shown."""

    def line(self, number: int) -> Strip:
        """One line, at most as wide as the context's width; cached by the body where it pays."""

    def copy_text(self) -> str:
        """The source text of the entry, for copying."""

    def update(self) -> bool:
        """Apply a change of the entry, at the cost of what is new. Return False if a new body is needed."""


class LongBody(Body, Protocol):
    """A body that makes its lines when they are needed, and guesses its height until then.

    To draw lines: `settle` them, then ask for the height, then for the lines.
    """

    def settle(self, first: int, last: int) -> None:
        """Make these lines. Where they begin stays; their number, and so the height, may change."""

    def place_of(self, line: int) -> Any:
        """Where a line is in the text, to be kept while heights above it may change."""

    def line_of(self, place: Any) -> int:
        """The number that the line at such a place has now."""


class LinesBody:
    """A body whose lines are all drawn at once, for short entries."""

    def __init__(self, lines: list[Strip], text: str) -> None:
        self._lines = lines
        self._text = text

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def line(self, number: int) -> Strip:
        """One of the lines."""
        return self._lines[number]

    def copy_text(self) -> str:
        """The source text."""
        return self._text

    def update(self) -> bool:
        """Return False: making a new body is cheap."""
        return False


def expander(text: str, look: Style) -> Segment:
    """A marker for omitted lines. A click on it opens the full entry."""
    return Segment(text, look + Style.from_meta({"whole": True}))

"""What the view and the bodies of entries have in common.

A *body* is what one entry looks like at one width: so many lines, each made when it is needed. The view asks
for the lines that are on the screen and no others; it never asks a body of an entry that was never near the
screen, whose height is estimated instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rich.segment import Segment
from rich.style import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.strip import Strip

    from acp_tui.session.state import Session
    from acp_tui.ui.theme.palette import Palette

Spans = list[Segment]
"""Pieces of one logical line of text: a text and a Rich style each, no control segments."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the user can choose about the looks of bodies."""

    diff: Literal["auto", "unified", "split"] = "auto"  # auto: beside each other where there is room


@dataclass(frozen=True, slots=True)
class DrawContext:
    """All that a body may depend on, beside its entry. A change of any of it makes bodies anew."""

    width: int  # cells, without the scrollbar; at least 20
    palette: Palette
    session: Session  # to be read: tool calls and terminals by their ids
    folded: bool = False  # show the short form
    now: Callable[[], float] | None = None  # for how long something has been going on
    cwd: str = ""  # paths below it are shown relative to it
    whole: bool = False  # nothing is cut short: for a screen that shows one thing alone
    preferences: Preferences = Preferences()
    keymap: Mapping[str, str] = field(default_factory=dict)  # keys that are bound otherwise than in the table


class Body(Protocol):
    """One entry, drawn. All texts in entries are safe already; what is raw goes through `visible…`."""

    @property
    def height(self) -> int:
        """How many lines there are now; 0: nothing to see."""

    def line(self, number: int) -> Strip:
        """One line, at most as wide as the context's width; cached by the body where it pays."""

    def copy_text(self) -> str:
        """What a copy of the whole entry gives: its source text, not its looks."""

    def update(self) -> bool:
        """The entry has changed: take it in, at the cost of what is new. False: make a new body instead."""


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
    """A body whose lines are made at once: right for everything that is short."""

    def __init__(self, lines: list[Strip], text: str) -> None:
        self._lines = lines
        self._text = text

    @property
    def height(self) -> int:
        """All of them."""
        return len(self._lines)

    def line(self, number: int) -> Strip:
        """A ready one."""
        return self._lines[number]

    def copy_text(self) -> str:
        """The text it was made from."""
        return self._text

    def update(self) -> bool:
        """It is cheap to make anew."""
        return False


def expander(text: str, look: Style) -> Segment:
    """What stands for what is not shown here; a click on it shows all of the entry."""
    return Segment(text, look + Style.from_meta({"whole": True}))

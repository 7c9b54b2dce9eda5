"""A tab, what the user has missed in it, and the row of tabs at the top of the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.dialogs.base_screen import BUSY, BaseScreen, TabState
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from textual import events


Mark = Literal["", "starting", "working", "asking", "done", "dead"]
"""The state that the tab strip marks. "done": a turn has ended and the user has not looked yet."""


class Tab:
    """A screen in its own Textual mode, and the changes since the user last looked at the screen."""

    def __init__(self, mode: str, screen: BaseScreen) -> None:
        self.mode = mode
        self.screen = screen
        screen.mode = mode
        self.finished_at: float | None = None
        """When the last turn ended; None if no turn has ended since the user last saw the tab."""
        self.asked_at: float | None = None
        """When the agent began to wait for an answer; None if it is not waiting."""
        self.is_closing = False
        """Whether the user is being asked the questions that must be answered before the tab is closed."""
        self._state = screen.tab_state
        self._seen_entries = 0

    @property
    def state(self) -> TabState:
        """What the screen reported last."""
        return self._state

    @property
    def unread(self) -> int:
        """The number of entries added since the user last looked."""
        return max(0, self._state.entries - self._seen_entries)

    @property
    def mark(self) -> Mark:
        """The state to mark in the tab strip."""
        match self._state.activity:
            case "connecting" | "loading":
                return "starting"
            case "working" | "cancelling" | "background":
                return "working"
            case "asking":
                return "asking"
            case "dead":
                return "dead"
        return "done" if self.finished_at is not None else ""

    def update(self, state: TabState, now: float, *, in_front: bool) -> None:
        """Store the state that the screen reports. `in_front` says whether the user sees the tab."""
        before, self._state = self._state, state
        if state.activity != "asking":
            self.asked_at = None
        elif self.asked_at is None:
            self.asked_at = now
        if before.activity in BUSY and state.activity not in BUSY:
            self.finished_at = now
        if in_front:
            self.see()

    def see(self) -> None:
        """Mark everything in the tab as seen by the user."""
        self._seen_entries = self._state.entries
        self.finished_at = None


SIGNS: Mapping[Mark, str] = {
    "starting": "◐",
    "working": "●",
    "asking": "?",
    "done": "✔",
    "dead": "✘",
}
"""The sign shown before a tab's title for each mark, so that marks differ even without colours."""
MAX_TITLE, MIN_TITLE = 30, 8
"""The limits of a title's width, in cells. If titles of the minimum width do not fit, tabs are left out."""
MAX_UNREAD = 99


@dataclass(frozen=True, slots=True)
class StripTab:
    """A tab as the strip shows it."""

    title: str
    mark: Mark = ""
    unread: int = 0


@dataclass(frozen=True, slots=True)
class TabPiece:
    """A part of the row of tabs: a tab, or the number of the tabs that are left out."""

    text: str
    index: int  # of the tab that a click shows
    mark: Mark = ""
    is_current: bool = False
    is_omission: bool = False  # counts tabs that are left out


def layout(tabs: Sequence[StripTab], current: int, width: int) -> list[TabPiece]:
    """Return the parts of a row that fits into `width` cells. The current tab is always shown.

    The row can be wider if all other tabs are left out.
    """
    title = MAX_TITLE
    while title > MIN_TITLE and _width(tabs, current, 0, len(tabs), title) > width:
        title -= 1
    first, after = 0, len(tabs)
    while after - first > 1 and _width(tabs, current, first, after, title) > width:
        if after - 1 - current >= current - first:
            after -= 1
        else:
            first += 1
    pieces = _visible_tabs(tabs, current, first, after, title)
    if (over := _cells(pieces) - width) > 0:
        return _visible_tabs(tabs, current, first, after, max(1, title - over))
    while title < MAX_TITLE and _width(tabs, current, first, after, title + 1) <= width:
        title += 1
    return _visible_tabs(tabs, current, first, after, title)


def _width(tabs: Sequence[StripTab], current: int, first: int, after: int, title: int) -> int:
    return _cells(_visible_tabs(tabs, current, first, after, title))


def _visible_tabs(
    tabs: Sequence[StripTab], current: int, first: int, after: int, title: int
) -> list[TabPiece]:
    """Return the parts of a row with the tabs `first` to `after - 1` and titles of up to `title` cells."""
    pieces = []
    if first:
        pieces.append(_omission(tabs, range(first), "‹", first - 1))
    for index in range(first, after):
        tab = tabs[index]
        sign = f" {SIGNS[tab.mark]}" if tab.mark else ""
        unread = f" +{min(tab.unread, MAX_UNREAD)}" if tab.unread and index != current else ""
        text = f" {index + 1}{sign} {shorten(tab.title, title)}{unread} "
        pieces.append(TabPiece(text, index, tab.mark, is_current=index == current))
    if after < len(tabs):
        pieces.append(_omission(tabs, range(after, len(tabs)), "›", after))
    return pieces


def _omission(tabs: Sequence[StripTab], omitted: range, arrow: str, index: int) -> TabPiece:
    """Return the part that shows how many tabs are left out.

    The part contains "?" if one of these tabs has a question. A click on the part shows the tab at `index`.
    """
    asks = any(tabs[each].mark == "asking" for each in omitted)
    count = f"{'? ' if asks else ''}{len(omitted)}"
    text = f" {arrow}{count} " if arrow == "‹" else f" {count}{arrow} "
    return TabPiece(text, index, "asking" if asks else "", is_omission=True)


def _cells(pieces: Sequence[TabPiece]) -> int:
    return sum(cell_len(piece.text) for piece in pieces)


_STYLES = {"working": "success", "asking": "warning", "done": "accent", "dead": "error"}
"""The field of `Palette` for each mark. Tabs with another mark, or with none, are dim."""


class TabStrip(Widget):
    """Shows the tabs that fit in one row, and marks the current tab."""

    DEFAULT_CSS = """
    TabStrip { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class TabClicked(Message):
        """The user clicked the tab with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, tabs: Sequence[StripTab], current: int) -> None:
        super().__init__()
        self._tabs = tabs
        self._current = current

    def show(self, tabs: Sequence[StripTab], current: int) -> None:
        """Show these tabs. `current` is the index of the current tab."""
        if (tabs, current) != (self._tabs, self._current):
            self._tabs, self._current = tabs, current
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        width, base = self.size.width, self.rich_style
        pieces = layout(self._tabs, self._current, width)
        line = Strip([Segment(piece.text, self._style(piece)) for piece in pieces])
        return line.crop_extend(0, width, base).apply_style(base)

    def _style(self, piece: TabPiece) -> Style:
        palette = current_palette()
        style: Style = getattr(palette, _STYLES.get(piece.mark, "dim"))
        if piece.is_current:
            style = palette.selected + Style(bold=True)
        return style + Style.from_meta({"tab": piece.index})

    def on_click(self, event: events.Click) -> None:
        """Report the clicked tab."""
        event.stop()
        if (index := event.style.meta.get("tab")) is not None:
            self.post_message(self.TabClicked(index))

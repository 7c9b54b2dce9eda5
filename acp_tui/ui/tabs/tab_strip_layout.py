"""Fits the tabs into one row: first shortens titles, then leaves out tabs far from the current tab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_tui.ui.tabs.tab import Mark

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
class Piece:
    """A part of the row of tabs: a tab, or the number of the tabs that are left out."""

    text: str
    index: int  # of the tab that a click shows
    mark: Mark = ""
    is_current: bool = False
    is_omission: bool = False  # counts tabs that are left out


def layout(tabs: Sequence[StripTab], current: int, width: int) -> list[Piece]:
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
    pieces = _pieces(tabs, current, first, after, title)
    if (over := _cells(pieces) - width) > 0:
        return _pieces(tabs, current, first, after, max(1, title - over))
    while title < MAX_TITLE and _width(tabs, current, first, after, title + 1) <= width:
        title += 1
    return _pieces(tabs, current, first, after, title)


def _width(tabs: Sequence[StripTab], current: int, first: int, after: int, title: int) -> int:
    return _cells(_pieces(tabs, current, first, after, title))


def _pieces(tabs: Sequence[StripTab], current: int, first: int, after: int, title: int) -> list[Piece]:
    """Return the parts of a row with the tabs `first` to `after - 1` and titles of up to `title` cells."""
    pieces = []
    if first:
        pieces.append(_omission(tabs, range(first), "‹", first - 1))
    for index in range(first, after):
        tab = tabs[index]
        sign = f" {SIGNS[tab.mark]}" if tab.mark else ""
        unread = f" +{min(tab.unread, MAX_UNREAD)}" if tab.unread and index != current else ""
        text = f" {index + 1}{sign} {shorten(tab.title, title)}{unread} "
        pieces.append(Piece(text, index, tab.mark, is_current=index == current))
    if after < len(tabs):
        pieces.append(_omission(tabs, range(after, len(tabs)), "›", after))
    return pieces


def _omission(tabs: Sequence[StripTab], omitted: range, arrow: str, index: int) -> Piece:
    """Return the part that shows how many tabs are left out.

    The part contains "?" if one of these tabs has a question. A click on the part shows the tab at `index`.
    """
    asks = any(tabs[each].mark == "asking" for each in omitted)
    count = f"{'? ' if asks else ''}{len(omitted)}"
    text = f" {arrow}{count} " if arrow == "‹" else f" {count}{arrow} "
    return Piece(text, index, "asking" if asks else "", is_omission=True)


def _cells(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(piece.text) for piece in pieces)

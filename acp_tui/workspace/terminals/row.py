"""One row of a terminal's screen: characters, including wide and combining ones, in columns."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from acp_tui.workspace.terminals.sgr import PLAIN, Style

Cell = tuple[str, Style]
"""A character with its combining marks, and its style. An empty string continues a wide character or tab."""

# Characters that are one column wide, so that most text need not be measured character by character.
_NARROW = "[ -~\xa0-\xac\xae-\u02ff\u0370-\u0377\u0391-\u03a1\u03a3-\u0482\u2010-\u2027\u2030-\u205e"
_NARROW += "\u20a0-\u20bf\u2190-\u21ff\u2200-\u22ff\u2500-\u25fc\u2800-\u28ff]"
_ALL_NARROW = re.compile(f"{_NARROW}*")
_PIECES = re.compile(f"{_NARROW}+|.", re.DOTALL)

TAB_WIDTH = 8
MAX_MARKS = 16
"""The maximum number of combining marks in one cell, so that no cell grows forever.

Beyond it, each mark gets a column of its own.
"""


def is_narrow(text: str) -> bool:
    """Return True if every character belongs to a fixed set of characters that are one column wide."""
    return _ALL_NARROW.fullmatch(text) is not None


def split_runs(text: str) -> list[str]:
    """Split a text into runs of narrow characters (see `is_narrow`) and single other characters."""
    return _PIECES.findall(text)


@lru_cache(maxsize=4096)
def column_width(character: str) -> int:
    """Return the number of columns of a character: 0, 1 or 2."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return int(character == "\xad")
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Row:
    """A row of cells.

    If text was only appended, the row is stored as pieces, each of one style, to save memory.
    """

    __slots__ = ("_cells", "_parts", "width", "wrapped")

    def __init__(self) -> None:
        # Text, style and number of columns. All characters of a piece have the same width.
        self._parts: list[tuple[str, Style, int]] = []
        self._cells: list[Cell] | None = None  # replaces the pieces once a cell is overwritten
        self.width = 0
        """Number of columns in use."""
        self.wrapped = False
        """Whether the next row continues the same line."""

    def put(self, column: int, text: str, style: Style, width: int) -> None:
        """Write text at a column: a run of narrow characters, or one other character whose width is not 0."""
        if column >= self.width or (column == 0 and width >= self.width):
            if column < self.width:
                self._parts.clear()
                self._cells = None
                self.width = 0
            self._pad(column)
            self._extend(text, style, width)
            return
        cells = self._as_cells()
        self._blank_wide(column)
        self._blank_wide(column + width)
        cells[column : column + width] = _cells(text, style, width)
        self.width = len(cells)

    def mark(self, column: int, character: str) -> bool:
        """Add a combining mark to the character before a column. Return False if that is impossible."""
        cells = self._as_cells()
        at = min(column, len(cells)) - 1
        while at > 0 and not cells[at][0]:
            at -= 1
        text, style = cells[at] if at >= 0 else ("\t", PLAIN)
        if len(text) > MAX_MARKS or text == "\t":
            return False
        cells[at] = (text + character, style)
        return True

    def truncate(self, column: int) -> None:
        """Remove the cell at `column` and everything to the right of it."""
        self.wrapped = False
        if column < self.width:
            self._blank_wide(column)
            del self._as_cells()[column:]
            self.width = column

    def blank(self, start: int, stop: int) -> None:
        """Replace the columns from `start` up to, but not including, `stop` by blanks."""
        if stop >= self.width:
            self.truncate(start)
        elif start < stop:
            self.put(start, " " * (stop - start), PLAIN, stop - start)

    def insert(self, column: int, count: int, limit: int) -> None:
        """Insert `count` blanks at a column. Text that moves beyond `limit` columns is lost."""
        if column < self.width:
            self._blank_wide(column)
            cells = self._as_cells()
            cells[column:column] = [(" ", PLAIN)] * min(count, limit)
            self.width = len(cells)
            self.truncate(limit)

    def delete(self, column: int, count: int) -> None:
        """Delete `count` columns, starting at `column`. The text to their right moves left."""
        if column < self.width:
            self._blank_wide(column)
            self._blank_wide(column + count)
            cells = self._as_cells()
            del cells[column : column + count]
            self.width = len(cells)
            self.wrapped = False

    def parts(self) -> list[Cell]:
        """Return the text as pieces, each of which has one style."""
        if self._cells is None:
            return [(text, style) for text, style, _ in self._parts]
        return [
            ("".join(text for text, _ in cells), style)
            for style, cells in groupby(self._cells, key=itemgetter(1))
        ]

    def _pad(self, column: int) -> None:
        if gap := column - self.width:
            self._extend(" " * gap, PLAIN, gap)

    def _extend(self, text: str, style: Style, width: int) -> None:
        if self._cells is None:
            self._parts.append((text, style, width))
        else:
            self._cells += _cells(text, style, width)
        self.width += width

    def _as_cells(self) -> list[Cell]:
        if self._cells is None:
            self._cells = [cell for part in self._parts for cell in _cells(*part)]
            self._parts = []
        return self._cells

    def _blank_wide(self, column: int) -> None:
        """If the column is inside a wide character or a tab, replace that character by blanks."""
        cells = self._as_cells()
        if column >= len(cells) or cells[column][0]:
            return
        start = column
        while not cells[start][0]:
            start -= 1
        stop = column
        while stop < len(cells) and not cells[stop][0]:
            stop += 1
        for index in range(start, stop):
            cells[index] = (" ", cells[start][1])


def _cells(text: str, style: Style, width: int) -> list[Cell]:
    if len(text) == width:
        return [(character, style) for character in text]
    return [(text, style), *[("", style)] * (width - 1)]

"""The screen of an emulated terminal: rows, cursor, and the operations on the rows and the cursor."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

Color = int | tuple[int, int, int] | None
"""None: the default colour; 0-15: the theme's palette; 16-255: the fixed palette; or red, green and blue."""


@dataclass(frozen=True, slots=True)
class Style:
    """Colours and attributes. Blinking and concealing are not supported, so that no text is hidden."""

    fg: Color = None
    bg: Color = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Style()

_SIMPLE: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},  # doubly
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
    39: {"fg": None},
    49: {"bg": None},
    **{30 + number: {"fg": number} for number in range(8)},
    **{40 + number: {"bg": number} for number in range(8)},
    **{90 + number: {"fg": 8 + number} for number in range(8)},
    **{100 + number: {"bg": 8 + number} for number in range(8)},
}
_EXTENDED = {38, 48, 58}  # 58: the colour of the underline, which is ignored


@lru_cache(maxsize=4096)
def apply_sgr(style: Style, parameters: str) -> Style:
    """Return `style` as changed by an SGR sequence. Unknown parameters are ignored."""
    codes = parameters.split(";")
    while codes:
        code, *details = codes.pop(0).split(":")
        number = _number(code)
        if number == 0:
            style = PLAIN
        elif number in _EXTENDED:
            color = _color(details or codes, with_space=bool(details))
            if color is not None and number == 38:
                style = replace(style, fg=color)
            elif color is not None and number == 48:
                style = replace(style, bg=color)
        elif number == 4 and details[:1] == ["0"]:  # "4:0" means no underline
            style = replace(style, underline=False)
        elif number in _SIMPLE:
            style = replace(style, **_SIMPLE[number])
    return style


def _number(text: str) -> int:
    return min(int(text), 9999) if text.isdecimal() else -1 if text else 0


def _color(codes: list[str], *, with_space: bool) -> Color:
    """Remove an extended colour from the front of the codes, and return the colour; None if it is invalid.

    An extended colour is `5;N` or `2;R;G;B`. If written with colons, the colour can contain a colour space
    after the 2 (`with_space`). The colour space can be empty: `2::R:G:B`.
    """
    kind = codes.pop(0) if codes else ""
    if kind == "5" and codes:
        number = _number(codes.pop(0))
        return number if 0 <= number <= 255 else None
    if kind == "2":
        if with_space and len(codes) > 3:
            codes.pop(0)  # the colour space, usually empty
        values = [_number(code) for code in codes[:3]]
        del codes[:3]
        if len(values) == 3 and all(0 <= value <= 255 for value in values):
            return (values[0], values[1], values[2])
    return None


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
    """Split text into runs of narrow characters (see `is_narrow`) and single other characters."""
    return _PIECES.findall(text)


@lru_cache(maxsize=4096)
def column_width(character: str) -> int:
    """Return the number of columns of a character: 0, 1 or 2."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return int(character == "\xad")
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class TerminalRow:
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


@dataclass(slots=True)
class _SavedCursor:
    """The cursor position and style that `save` stores and `restore` restores."""

    line: int = 0
    column: int = 0
    style: Style = PLAIN


class ScreenBuffer:
    """The rows that a program can still change. Rows are created when they are first used.

    A row that scrolls off at the top goes to the scrollback. The alternate screen has no scrollback.
    """

    def __init__(self, width: int, height: int, scrollback: Scrollback | None) -> None:
        self.width = width
        self.height = height
        self.rows = [TerminalRow()]
        self.line = 0
        self.column = 0  # may equal the width: the next character wraps
        self.style = PLAIN
        self.autowrap = True
        self._scrollback = scrollback
        self._top, self._bottom = 0, height - 1
        self._saved = _SavedCursor()
        self._last = ""  # the last character, for `repeat`

    def reset(self) -> None:
        """Restore the initial state, but keep the scrollback and the last character for `repeat`."""
        self.go_to(0, 0)
        self.erase_display(2)
        self.style = PLAIN
        self.autowrap = True
        self._top, self._bottom = 0, self.height - 1
        self._saved = _SavedCursor()

    # ---- text

    def write(self, parts: list[Part]) -> None:
        """Write text that contains no control characters except tabs and newlines."""
        if sum(text.count("\n") for text, _ in parts) > self.height and self._only_appends(parts):
            parts = self._append_to_scrollback(parts)
        for text, style in parts:
            self.style = style
            first, *others = text.split("\n")
            if first:
                self._write_line(first)
            for other in others:
                self.line_feed()
                if other:
                    self._write_line(other)

    def _only_appends(self, parts: list[Part]) -> bool:
        """Return True if the text would only be appended: nothing that is on the screen would change.

        Return False if a part begins with a combining mark, because the mark would join the character before
        it, and take the style of that character.
        """
        last = self.rows[-1]
        return (
            self._scrollback is not None
            and self.autowrap
            and self._bottom - self._top == self.height - 1
            and self.line == len(self.rows) - 1
            and self.column == last.width
            and not last.wrapped
            and not any(text and column_width(text[0]) == 0 for text, _ in parts)
        )

    def _append_to_scrollback(self, parts: list[Part]) -> list[Part]:
        """Append what would scroll off the screen to the scrollback. Return the parts still to be written."""
        assert self._scrollback is not None
        left: list[Part] = []
        lines = self.height
        while True:
            text, style = parts.pop()
            count = text.count("\n")
            if count > lines:
                break
            lines -= count
            left.append((text, style))
        scrolled, *others = text.rsplit("\n", lines + 1)
        left.append(("\n".join(others), style))
        for row in self.rows[:-1]:
            self._retire(row)
        for part in [*self.rows[-1].parts(), *parts, (scrolled + "\n", style)]:
            if part[0]:
                self._scrollback.append(*part)
        self.rows = [TerminalRow()]
        self.line = self.column = 0
        return left[::-1]

    def _write_line(self, text: str) -> None:
        if is_narrow(text):
            self._write_narrow(text)
            return
        for piece in split_runs(text):
            if len(piece) > 1:
                self._write_narrow(piece)
            elif piece == "\t":
                self._tab()
            else:
                self._write_character(piece, column_width(piece))

    def _write_narrow(self, text: str) -> None:
        self._last = text[-1]
        if not self.autowrap:
            self.column = min(self.column, self.width - 1)
            if len(text) > self.width - self.column:
                text = text[: self.width - self.column - 1] + text[-1]
        start = 0
        while start < len(text):
            if self.column >= self.width:
                self._wrap()
            piece = text[start : start + self.width - self.column]
            self.rows[self.line].put(self.column, piece, self.style, len(piece))
            self.column += len(piece)
            start += len(piece)

    def _write_character(self, character: str, width: int) -> None:
        if width == 0 and self.rows[self.line].mark(self.column, character):
            return
        self._last = character
        width = max(width, 1)
        if self.column + width > self.width:
            if self.autowrap:
                self._wrap()
            else:
                self.column = self.width - width
        self.rows[self.line].put(self.column, character, self.style, width)
        self.column += width

    def _tab(self) -> None:
        """Move to the next tab stop. Beyond the row's text, store a tab, so that users can copy the tab."""
        if self.column >= self.width and self.autowrap:
            self._wrap()
        row = self.rows[self.line]
        stop = min(self.column + TAB_WIDTH - self.column % TAB_WIDTH, self.width)
        if self.column >= row.width and stop > self.column:
            row.put(self.column, "\t", self.style, stop - self.column)
        self.column = stop

    def repeat(self, count: int) -> None:
        """Repeat the last character. `count` is limited, so that a few bytes cannot block acp-tui."""
        if self._last:
            self._write_line(self._last * min(count, self.width, 500))

    def _wrap(self) -> None:
        self.rows[self.line].wrapped = True
        self.index()
        self.column = 0

    # ---- moving the cursor

    def carriage_return(self) -> None:
        self.column = 0

    def line_feed(self) -> None:
        """Move to the first column of the next line, scrolling at the bottom."""
        self.column = 0
        self._last = ""
        self.index()

    def index(self) -> None:
        """Move down a line, scrolling at the bottom."""
        if self.line == self._bottom:
            self.scroll_up(1)
        elif self.line < self.height - 1:
            self.go_to_line(self.line + 1)

    def reverse_index(self) -> None:
        """Move up a line, scrolling at the top."""
        if self.line == self._top:
            self.scroll_down(1)
        else:
            self.go_to_line(self.line - 1)

    def move(self, down: int = 0, right: int = 0) -> None:
        """Move the cursor, but not out of the screen or scroll region. Negative numbers: up and left."""
        top = self._top if self.line >= self._top else 0
        bottom = self._bottom if self.line <= self._bottom else self.height - 1
        self.go_to_line(max(top, min(self.line + down, bottom)))
        self.go_to_column(min(self.column, self.width - 1) + right)

    def go_to(self, line: int, column: int) -> None:
        """Move to a line and column, both counted from 0."""
        self.go_to_line(line)
        self.go_to_column(column)

    def go_to_column(self, column: int) -> None:
        """Move to a column of the current line."""
        self.column = max(0, min(column, self.width - 1))

    def go_to_line(self, line: int) -> None:
        """Move to another line, in the same column."""
        self.line = max(0, min(line, self.height - 1))
        while len(self.rows) <= self.line:
            self.rows.append(TerminalRow())

    def save(self) -> None:
        """Save the cursor's position and style."""
        self._saved = _SavedCursor(self.line, self.column, self.style)

    def restore(self) -> None:
        """Restore the cursor position and style that `save` stored."""
        self.go_to_line(self._saved.line)
        self.column = self._saved.column
        self.style = self._saved.style

    # ---- erasing, inserting, deleting

    def erase_line(self, mode: int) -> None:
        """Erase the line: from the cursor on (mode 0), up to and including the cursor (1), or all (2)."""
        row = self.rows[self.line]
        if mode == 0:
            row.truncate(self.column)
        elif mode == 1:
            row.blank(0, min(self.column, self.width - 1) + 1)
        elif mode == 2:
            row.truncate(0)

    def erase_display(self, mode: int) -> None:
        """Erase the screen: from the cursor on (mode 0), up to and including the cursor (1), or all (2).

        Mode 3, which would erase the scrollback, is ignored.
        """
        if mode == 0:
            self.erase_line(0)
            del self.rows[self.line + 1 :]
        elif mode == 1:
            self.erase_line(1)
            self._blank_above()
        elif mode == 2:
            self._blank_above()
            self.rows[self.line :] = [TerminalRow()]

    def _blank_above(self) -> None:
        if self._scrollback is not None and self._scrollback.open:
            self._scrollback.append("\n", PLAIN)  # end the line whose rest has been erased
        self.rows[: self.line] = [TerminalRow() for _ in range(self.line)]

    def insert_characters(self, count: int) -> None:
        """Insert blanks at the cursor."""
        self.rows[self.line].insert(self.column, count, self.width)

    def delete_characters(self, count: int) -> None:
        self.rows[self.line].delete(self.column, count)

    def erase_characters(self, count: int) -> None:
        """Replace characters at the cursor by blanks."""
        self.rows[self.line].blank(self.column, min(self.column + count, self.width))

    def insert_lines(self, count: int) -> None:
        """Insert empty lines at the cursor. Lines that move out of the scroll region are lost."""
        if self._top <= self.line <= self._bottom:
            self._shift_down(self.line, count)
            self.column = 0

    def delete_lines(self, count: int) -> None:
        if self._top <= self.line <= self._bottom:
            self._shift_up(self.line, count, retire=False)
            self.column = 0

    # ---- scrolling

    def set_region(self, top: int, bottom: int) -> None:
        """Let only the lines from `top` to `bottom` scroll; the whole screen if that range is invalid."""
        bottom = min(bottom, self.height - 1)
        self._top, self._bottom = (top, bottom) if 0 <= top < bottom else (0, self.height - 1)
        self.go_to(0, 0)

    def scroll_up(self, count: int) -> None:
        self._shift_up(self._top, count, retire=self._top == 0)

    def scroll_down(self, count: int) -> None:
        self._shift_down(self._top, count)

    def _shift_up(self, top: int, count: int, *, retire: bool) -> None:
        for _ in range(min(count, self.height)):
            if top < len(self.rows):
                row = self.rows.pop(top)
                if retire:
                    self._retire(row)
            if len(self.rows) >= self._bottom:
                self.rows.insert(self._bottom, TerminalRow())
        self.go_to_line(self.line)

    def _shift_down(self, top: int, count: int) -> None:
        for _ in range(min(count, self.height)):
            if len(self.rows) > self._bottom:
                self.rows.pop(self._bottom)
            self.rows.insert(top, TerminalRow())
        self.go_to_line(self.line)

    def _retire(self, row: TerminalRow) -> None:
        if self._scrollback is None:
            return
        parts = row.parts()
        text, style = parts.pop() if parts else ("", PLAIN)
        for before in parts:
            self._scrollback.append(*before)
        if text or not row.wrapped:
            self._scrollback.append(text if row.wrapped else text + "\n", style)

    # ---- reading

    def used_rows(self) -> list[TerminalRow]:
        """Return the rows from the top to the cursor, and further rows down to the last row with text."""
        count = len(self.rows)
        while count > self.line + 1 and not self.rows[count - 1].width:
            count -= 1
        return self.rows[:count]


Part = tuple[str, "Style"]
"""A piece of text in one style. It may contain newlines."""

PAGE_CHARACTERS = 8192


class _Page:
    """A few thousand characters. The numbers of characters and newlines allow readers to skip a page."""

    __slots__ = ("characters", "newlines", "parts")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.characters = 0
        self.newlines = 0

    def compact(self) -> None:
        """Join neighbouring parts of equal style: a part per line takes far more memory than the text."""
        self.parts = [
            ("".join(text for text, _ in parts), style)
            for style, parts in groupby(self.parts, key=itemgetter(1))
        ]


class _Pages:
    """Consecutive pages, with their total numbers of characters and newlines."""

    def __init__(self) -> None:
        self.pages: deque[_Page] = deque()
        self.characters = 0
        self.newlines = 0

    def add(self, text: str, style: Style) -> None:
        if len(text) > PAGE_CHARACTERS:
            for start in range(0, len(text), PAGE_CHARACTERS):
                self.add(text[start : start + PAGE_CHARACTERS], style)
            return
        page = self.pages[-1] if self.pages else None
        if page is None or page.characters >= PAGE_CHARACTERS:
            if page is not None:
                page.compact()
            page = _Page()
            self.pages.append(page)
        page.parts.append((text, style))
        page.characters += len(text)
        self.characters += len(text)
        if newlines := text.count("\n"):
            page.newlines += newlines
            self.newlines += newlines

    def shrink(self, characters: int) -> None:
        """Drop pages from the front as long as at least `characters` characters remain."""
        while self.pages and self.characters - self.pages[0].characters >= characters:
            page = self.pages.popleft()
            self.characters -= page.characters
            self.newlines -= page.newlines

    def parts(self) -> Iterator[Part]:
        for page in self.pages:
            yield from page.parts


class Scrollback:
    """Append-only text. Of a long text, the first `head` and about the last `tail` characters are kept."""

    def __init__(self, head: int, tail: int) -> None:
        self._head_size = head
        self._tail_size = tail
        self._head = _Pages()
        self._tail = _Pages()
        self.characters = 0
        """Number of characters ever appended."""
        self.newlines = 0
        """Number of complete lines ever appended."""
        self.open = False
        """Whether the last line has no newline yet."""

    def append(self, text: str, style: Style) -> None:
        """Append text, which must not be empty."""
        self.characters += len(text)
        self.newlines += text.count("\n")
        self.open = text[-1] != "\n"
        if room := self._head_size - self._head.characters:
            self._head.add(text[:room], style)
            text = text[room:]
        if text and self._tail_size:
            self._tail.add(text[-self._tail_size :], style)
            self._tail.shrink(self._tail_size)

    @property
    def dropped(self) -> int:
        """Number of characters dropped between head and tail."""
        return self.characters - self._head.characters - min(self._tail.characters, self._tail_size)

    def all(self) -> Iterator[Part]:
        """Yield the whole text. Must be called only if nothing was dropped."""
        yield from self._head.parts()
        yield from self._tail.parts()

    def head(self) -> Iterator[Part]:
        """Yield the first `head` characters."""
        return self._head.parts()

    def tail(self) -> Iterator[Part]:
        """Yield the end of the output: as many characters as the constructor's argument `tail` says."""
        hidden = self._tail.characters - self._tail_size
        for text, style in self._tail.parts():
            if hidden >= len(text):
                hidden -= len(text)
            elif hidden > 0:
                yield text[hidden:], style
                hidden = 0
            else:
                yield text, style

    def since(self, line: int) -> tuple[int, Iterator[Part]]:
        """Return all text from the start of the page in which `line` begins.

        The first value is the number of the line in which this text starts. If text was dropped, at most the
        last `tail` characters are returned.
        """
        pages = [*self._tail.pages] if self.dropped else [*self._head.pages, *self._tail.pages]
        number = self.newlines - sum(page.newlines for page in pages)
        if self.dropped:
            shown = sum(text.count("\n") for text, _ in self.tail())
            first = self.newlines - shown
            if line <= first or not pages or line <= number + pages[0].newlines:
                return first, self.tail()
        while pages and number + pages[0].newlines < line:
            number += pages.pop(0).newlines
        return number, _parts(pages)


def _parts(pages: Iterable[_Page]) -> Iterator[Part]:
    for page in pages:
        yield from page.parts

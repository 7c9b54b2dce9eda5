"""The screen of an emulated terminal: rows, cursor, and the operations on the rows and the cursor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.workspace.terminals.row import TAB_WIDTH, Row, column_width, is_narrow, split_runs
from acp_tui.workspace.terminals.sgr import PLAIN, Style

if TYPE_CHECKING:
    from acp_tui.workspace.terminals.scrollback import Part, Scrollback


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
        self.rows = [Row()]
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
        self.rows = [Row()]
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
        """Move to the first column."""
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
            self.rows.append(Row())

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
            self.rows[self.line :] = [Row()]

    def _blank_above(self) -> None:
        if self._scrollback is not None and self._scrollback.open:
            self._scrollback.append("\n", PLAIN)  # end the line whose rest has been erased
        self.rows[: self.line] = [Row() for _ in range(self.line)]

    def insert_characters(self, count: int) -> None:
        """Insert blanks at the cursor."""
        self.rows[self.line].insert(self.column, count, self.width)

    def delete_characters(self, count: int) -> None:
        """Delete characters at the cursor."""
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
        """Delete lines at the cursor."""
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
        """Move everything in the scroll region up."""
        self._shift_up(self._top, count, retire=self._top == 0)

    def scroll_down(self, count: int) -> None:
        """Move everything in the scroll region down."""
        self._shift_down(self._top, count)

    def _shift_up(self, top: int, count: int, *, retire: bool) -> None:
        for _ in range(min(count, self.height)):
            if top < len(self.rows):
                row = self.rows.pop(top)
                if retire:
                    self._retire(row)
            if len(self.rows) >= self._bottom:
                self.rows.insert(self._bottom, Row())
        self.go_to_line(self.line)

    def _shift_down(self, top: int, count: int) -> None:
        for _ in range(min(count, self.height)):
            if len(self.rows) > self._bottom:
                self.rows.pop(self._bottom)
            self.rows.insert(top, Row())
        self.go_to_line(self.line)

    def _retire(self, row: Row) -> None:
        if self._scrollback is None:
            return
        parts = row.parts()
        text, style = parts.pop() if parts else ("", PLAIN)
        for before in parts:
            self._scrollback.append(*before)
        if text or not row.wrapped:
            self._scrollback.append(text if row.wrapped else text + "\n", style)

    # ---- reading

    def used_rows(self) -> list[Row]:
        """Return the rows from the top to the cursor, and further rows down to the last row with text."""
        count = len(self.rows)
        while count > self.line + 1 and not self.rows[count - 1].width:
            count -= 1
        return self.rows[:count]

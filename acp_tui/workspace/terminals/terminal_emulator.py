"""A small terminal emulator: turns raw output into lines of styled text that are safe to display.

It supports the alternate screen and what line-oriented programs use, such as carriage return, backspace,
erasing, cursor movement within the screen, colours, insertion and deletion, and a scroll region. It ignores
sequences that it does not know. Lines that have scrolled off never change. The result does not depend on how
the output is split into pieces.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from acp_tui.session.safe_text import escape_controls
from acp_tui.workspace.terminals.screen_buffer import (
    PLAIN,
    TAB_WIDTH,
    Part,
    ScreenBuffer,
    Scrollback,
    Style,
    apply_sgr,
    column_width,
)

WIDTH, HEIGHT = 120, 40
"""The number of columns and rows of each terminal."""

_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
# A pager would wait for keys that nobody can press.
_NO_PAGER = {"PAGER": "cat", "GIT_PAGER": "cat"}
# These describe the terminal in which acp-tui itself runs.
_EXCLUDED = {
    *("COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMCAP", "WINDOWID", "TMUX", "STY"),
}
Span = tuple[str, Style]
Line = tuple[Span, ...]
"""A line, split into pieces of one style each. It contains no control characters."""
KEEP_CHARACTERS = 256 * 1024
_OMISSION_STYLE = Style(dim=True)
# Text with the most frequent controls: tab, line feed, carriage return, colours.
_TEXT = re.compile("(?:[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]++|\x1b\\[[0-;]{0,256}+m)++")
_SGR = re.compile("\x1b\\[([0-;]*)m")
_RETURNS = re.compile("(\r)")
_BREAKS = re.compile("([\r\n])")
_CSI = re.compile(r"\x1b\[([<-?]?)([0-;]{0,256})([ -/]{0,4})([@-~])")
_ESCAPE = re.compile(r"\x1b([ -/]{0,4})([0-~])")
# The beginning of an escape sequence: kept if the data ends after it, otherwise dropped as invalid.
_UNFINISHED = re.compile(r"\x1b(?:\[[<-?]?[0-;]{0,256}[ -/]{0,4}|[ -/]{0,4})")
# A newline also ends a title, so that a title without a terminator does not hide the lines after it.
_STRING_ENDS = {"]": re.compile("[\x07\x18\x1a\x1b\n]")}
_STRING_END = re.compile("[\x07\x18\x1a\x1b]")
_STRING_LIMIT = 4 * 1024 * 1024
_ALTERNATE = {"47", "1047", "1049"}
_LINE_DRAWING = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_ACTIONS: dict[str, Callable[[ScreenBuffer, list[int]], None]] = {
    "A": lambda screen, n: screen.move(down=-(n[0] or 1)),
    "B": lambda screen, n: screen.move(down=n[0] or 1),
    "e": lambda screen, n: screen.move(down=n[0] or 1),
    "C": lambda screen, n: screen.move(right=n[0] or 1),
    "a": lambda screen, n: screen.move(right=n[0] or 1),
    "D": lambda screen, n: screen.move(right=-(n[0] or 1)),
    "E": lambda screen, n: screen.move(down=n[0] or 1, right=-screen.width),
    "F": lambda screen, n: screen.move(down=-(n[0] or 1), right=-screen.width),
    "G": lambda screen, n: screen.go_to_column((n[0] or 1) - 1),
    "`": lambda screen, n: screen.go_to_column((n[0] or 1) - 1),
    "H": lambda screen, n: screen.go_to((n[0] or 1) - 1, (n[1] or 1) - 1),
    "f": lambda screen, n: screen.go_to((n[0] or 1) - 1, (n[1] or 1) - 1),
    "d": lambda screen, n: screen.go_to_line((n[0] or 1) - 1),
    "J": lambda screen, n: screen.erase_display(n[0]),
    "K": lambda screen, n: screen.erase_line(n[0]),
    "L": lambda screen, n: screen.insert_lines(n[0] or 1),
    "M": lambda screen, n: screen.delete_lines(n[0] or 1),
    "@": lambda screen, n: screen.insert_characters(n[0] or 1),
    "P": lambda screen, n: screen.delete_characters(n[0] or 1),
    "X": lambda screen, n: screen.erase_characters(n[0] or 1),
    "S": lambda screen, n: screen.scroll_up(n[0] or 1),
    "T": lambda screen, n: screen.scroll_down(n[0] or 1),
    "b": lambda screen, n: screen.repeat(n[0] or 1),
    "r": lambda screen, n: screen.set_region((n[0] or 1) - 1, (n[1] or screen.height) - 1),
    "s": lambda screen, _: screen.save(),
    "u": lambda screen, _: screen.restore(),
}
_SHORT_ACTIONS: dict[str, Callable[[ScreenBuffer], None]] = {
    "7": ScreenBuffer.save,
    "8": ScreenBuffer.restore,
    "D": ScreenBuffer.index,
    "E": ScreenBuffer.line_feed,
    "M": ScreenBuffer.reverse_index,
}


def terminal_environment(requested: Mapping[str, str]) -> dict[str, str]:
    """Return acp-tui's environment, adapted for acp-tui's terminals, with the `requested` variables added."""
    inherited = {name: value for name, value in os.environ.items() if name not in _EXCLUDED}
    return {**inherited, **_TERMINAL, **_NO_PAGER, **requested}


class TerminalEmulator:
    """The output of one terminal as it would look on a screen.

    Of the lines that have scrolled off, the first `head` and the last `tail` characters are kept. With
    `styles=False`, colours are ignored, to save time if only the text is needed.
    """

    def __init__(
        self,
        width: int = WIDTH,
        height: int = HEIGHT,
        *,
        head: int = KEEP_CHARACTERS,
        tail: int = KEEP_CHARACTERS,
        styles: bool = True,
    ) -> None:
        self.version = 0
        """Increases with every call of `feed`, except with an empty string."""
        self._size = (max(width, 2 * TAB_WIDTH), max(height, 2))
        self._styles = styles
        self._scrollback = Scrollback(head, tail)
        self._main = ScreenBuffer(*self._size, self._scrollback)
        self._alternate: ScreenBuffer | None = None
        self._screen = self._main
        self._carry = ""  # an incomplete escape sequence at the end of the data
        self._string: re.Pattern[str] | None = None  # the end of the current control string, such as a title
        self._string_length = 0
        self._line_drawing = False  # whether letters stand for line drawing characters

    # ---- writing

    def feed(self, raw: str) -> None:
        """Process the next piece of output. Pieces may end anywhere, even within an escape sequence."""
        if not raw:
            return
        self.version += 1
        data, self._carry = self._carry + raw, ""
        position = 0
        while position < len(data):
            if self._string is not None:
                position = self._skip_string(data, position)
            elif found := _TEXT.match(data, position):
                self._write(found[0])
                position = found.end()
            elif data[position] == "\x1b":
                position = self._escape(data, position)
            else:
                self._control(data[position])
                position += 1

    def _write(self, text: str) -> None:
        """Write text that may contain colours, tabs, line feeds and carriage returns."""
        screen = self._screen
        # The terminal driver turns LF into CR LF, but full-screen programs may have switched that off.
        in_alternate = screen is self._alternate
        pieces = _BREAKS.split(text) if in_alternate else _RETURNS.split(text.replace("\r\n", "\n"))
        for piece in pieces:
            if piece == "\r":
                screen.carriage_return()
            elif piece == "\n" and in_alternate:
                screen.index()
            elif piece:
                screen.write(self._parts(piece))

    def _parts(self, text: str) -> list[Part]:
        """Split text at SGR sequences into pieces of one style each.

        The last piece can be empty: it then only sets the style of the text that follows.
        """
        style = self._screen.style
        if "\x1b" not in text:
            return [(self._translate(text), style)]
        first, *others = _SGR.split(text)
        parts = [(self._translate(first), style)]
        for parameters, piece in zip(others[::2], others[1::2], strict=True):
            if self._styles:
                style = apply_sgr(style, parameters)
            parts.append((self._translate(piece), style))
        return parts if self._styles else [("".join(piece for piece, _ in parts), style)]

    def _translate(self, text: str) -> str:
        return text.translate(_LINE_DRAWING) if self._line_drawing else text

    def _control(self, character: str) -> None:
        if character == "\b":
            self._screen.move(right=-1)
        elif character in "\v\f":
            self._screen.index()

    def _skip_string(self, data: str, position: int) -> int:
        """Skip a control string such as a title or an image, and return the position after the string.

        A string that is not terminated ends at `_STRING_LIMIT`, so that it does not hide all later output.
        """
        assert self._string is not None
        limit = position + _STRING_LIMIT - self._string_length
        end = self._string.search(data, position, min(limit, len(data)))
        stop = end.start() if end else min(limit, len(data))
        self._string_length += stop - position
        if end is None:
            if self._string_length >= _STRING_LIMIT:
                self._string = None
            return stop
        if end[0] == "\x1b" and stop + 1 == len(data):
            self._carry = "\x1b"  # perhaps the first half of the terminator
            return len(data)
        self._string = None
        if end[0] == "\x1b":
            return stop + 2 if data[stop + 1] == "\\" else stop
        return stop if end[0] == "\n" else stop + 1

    def _escape(self, data: str, position: int) -> int:
        """Execute the escape sequence at a position, and return the position after the sequence."""
        if found := _CSI.match(data, position):
            private, parameters, between, final = found.groups()
            self._execute(private, parameters, between, final)
            return found.end()
        found = _ESCAPE.match(data, position)
        if found and found[0] != "\x1b[":
            between, final = found.groups()
            self._execute_short(between, final)
            return found.end()
        found = _UNFINISHED.match(data, position)
        assert found
        if found.end() == len(data):
            self._carry = found[0]
        return found.end()

    def _execute(self, private: str, parameters: str, between: str, final: str) -> None:
        if between:
            return
        if final in "hl" and private == "?":
            self._set_modes(parameters.split(";"), on=final == "h")
        elif (action := _ACTIONS.get(final)) and (not private or (private == "?" and final in "JK")):
            action(self._screen, [_number(text) for text in parameters.split(";")[:2]] + [0])

    def _execute_short(self, between: str, final: str) -> None:
        if between == "(":
            self._line_drawing = final == "0"
        elif between:
            return
        elif final in "]PX^_":
            self._string = _STRING_ENDS.get(final, _STRING_END)
            self._string_length = 0
        elif final == "c":
            self._reset()
        elif action := _SHORT_ACTIONS.get(final):
            action(self._screen)

    def _set_modes(self, modes: list[str], *, on: bool) -> None:
        for mode in modes:
            if mode == "7":
                self._screen.autowrap = on
            elif mode in _ALTERNATE:
                self._use_alternate(on=on)

    def _use_alternate(self, *, on: bool) -> None:
        if on and self._alternate is None:
            self._alternate = ScreenBuffer(*self._size, None)
            self._alternate.style = self._screen.style
        elif not on:
            self._alternate = None
        self._screen = self._alternate or self._main

    def _reset(self) -> None:
        self._use_alternate(on=False)
        self._line_drawing = False
        self._main.reset()

    # ---- reading

    @property
    def final_lines(self) -> int:
        """The number of lines that have scrolled off. They never change, so reading them once suffices."""
        return self._scrollback.newlines

    @property
    def line_count(self) -> int:
        """The number of lines, including dropped lines."""
        return self.final_lines + 1 + sum(text.count("\n") for text, _ in self._screen_parts())

    @property
    def dropped(self) -> int:
        """The number of characters dropped between the kept beginning and the kept end."""
        return self._scrollback.dropped

    def text(self) -> str:
        """Return the plain text with newlines and tabs, as a program would read it. Not safe to display."""
        if self.dropped:
            head = "".join(text for text, _ in self._scrollback.head())
            parts = self._scrollback.tail()
            before = f"{head}{'' if head.endswith(chr(10)) else chr(10)}{self._omission()}\n" if head else ""
        else:
            parts, before = self._scrollback.all(), ""
        return "".join([before, *(text for text, _ in parts), *(text for text, _ in self._screen_parts())])

    @property
    def lines(self) -> list[Line]:
        """All lines that are kept. Where lines were dropped, a note in a line of its own replaces them."""
        if not self.dropped:
            return _split_lines(self._chain(self._scrollback.all()))
        head = _split_lines(self._scrollback.head())
        if not head[-1]:
            head.pop()  # the head ends with a newline, or is empty
        omission = ((self._omission(), _OMISSION_STYLE),)
        return [*head, omission, *_split_lines(self._chain(self._scrollback.tail()))]

    def lines_from(self, number: int) -> tuple[int, list[Line]]:
        """Return the number of the first returned line, and the lines from line `number` on.

        If line `number` or a later line was dropped, the first returned line is a later one. A
        reader can keep the first `final_lines` lines and request only the later lines next time. The cost
        then depends only on the number of new lines and the height of the screen.
        """
        first, parts = self._scrollback.since(number)
        lines = _split_lines(self._chain(parts))
        skip = max(0, number - first)
        return first + skip, lines[skip:]

    def _omission(self) -> str:
        return f"… {self.dropped:,} characters omitted …"

    def _chain(self, parts: Iterable[Part]) -> Iterator[Part]:
        yield from parts
        yield from self._screen_parts()

    def _screen_parts(self) -> Iterator[Part]:
        yield from _row_parts(self._main)
        if self._alternate is not None:
            yield ("\n", PLAIN)
            yield from _row_parts(self._alternate)


def parse_styled_text(text: str) -> list[Line]:
    """Return the lines, not wrapped, of a complete text with colours, such as the output of a tool."""
    model = TerminalEmulator(width=len(text), head=len(text), tail=0)
    model.feed(text)
    return model.lines


def _number(text: str) -> int:
    return min(int(text), 9999) if text.isdecimal() else 0


def _row_parts(screen: ScreenBuffer) -> Iterator[Part]:
    rows = screen.used_rows()
    for row in rows:
        yield from row.parts()
        if row is not rows[-1] and not row.wrapped:
            yield ("\n", PLAIN)


def _split_lines(parts: Iterable[Part]) -> list[Line]:
    lines: list[Line] = []
    spans: list[Span] = []
    for text, style in parts:
        first, *others = text.split("\n")
        if first:
            spans.append((first, style))
        for other in others:
            lines.append(_displayable(spans))
            spans = [(other, style)] if other else []
    lines.append(_displayable(spans))
    return lines


def _displayable(spans: list[Span]) -> Line:
    """Join neighbours with the same style, expand tabs, and replace control characters by visible symbols."""
    joined = [("".join(text for text, _ in same), style) for style, same in groupby(spans, itemgetter(1))]
    if any("\t" in text for text, _ in joined):
        joined = _expand_tabs(joined)
    return tuple((text if text.isprintable() else escape_controls(text), style) for text, style in joined)


def _expand_tabs(spans: list[Span]) -> list[Span]:
    expanded: list[Span] = []
    column = 0
    for text, style in spans:
        pieces: list[str] = []
        for character in text:
            width = TAB_WIDTH - column % TAB_WIDTH if character == "\t" else column_width(character)
            pieces.append(" " * width if character == "\t" else character)
            column += width
        expanded.append(("".join(pieces), style))
    return expanded

"""Parses terminal output into styled lines while the output arrives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.session.text.terminal_text import TerminalText

if TYPE_CHECKING:
    from acp_tui.session.state import Terminal
    from acp_tui.workspace.terminals.terminal_emulator import Line, TerminalEmulator


class OutputLines:
    """The lines of a terminal's output so far. A marker line stands for output that was not kept."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._text = TerminalText()
        self.restart()
        self._begin()

    def _begin(self) -> None:
        self._text = self._terminal.output
        self._position = 0
        self._before: list[Line] = []  # lines before the last gap, and the line that marks it
        self._head: list[Line] | None = None  # lines before the first gap
        self._lost = 0  # characters between the head and the emulator's output
        self._fed_from = 0  # position at which the emulator's output begins
        self._emulator = _make_emulator()
        self.follow()

    def follow(self) -> bool:
        """Read new output. Return True if there was any."""
        output = self._terminal.output
        if output is not self._text:
            self._begin()  # the agent sent the whole output again
            return True
        if output.total == self._position:
            return False
        before, missing, after = output.since(self._position)
        self._emulator.feed(before)
        if missing:
            self._skip(missing, self._position + len(before))
        self._position = output.total
        self._emulator.feed(after)
        return True

    def _skip(self, missing: int, position: int) -> None:
        """Continue after a gap of `missing` characters that begins at `position`.

        Of the earlier output, only the lines before the first gap are kept.
        """
        if self._head is None:
            self._head = _without_last_if_empty(self._emulator.lines)
        else:
            self._lost += position - self._fed_from
        self._lost += missing
        self._fed_from = position + missing
        self._before = [*self._head, _omission_line(self._lost)]
        self._emulator = _make_emulator()

    def last(self, count: int) -> tuple[list[Line], int]:
        """Return the last `count` lines, and the number of lines before them.

        The time needed does not depend on the length of the output.
        """
        total = self._emulator.line_count
        start = max(0, total - count - 1)
        first, lines = self._emulator.lines_from(start)
        if not lines[-1]:
            lines.pop()  # the output ends with a newline
            total -= 1
        if first > start:
            lines.insert(0, _omission_line(self._emulator.dropped))
        missing = count - len(lines)
        lines = [*self._before[-missing:], *lines] if missing > 0 else lines[-count:]
        return lines, max(0, len(self._before) + total - len(lines))

    def restart(self) -> None:
        """Make the next `changed_lines` return all lines."""
        self._reported: TerminalEmulator | None = None  # the emulator at the last call of `changed_lines`
        self._settled = 0  # how many of its lines were final at that call
        self._final = 0  # how many of the returned lines will not change

    def changed_lines(self) -> tuple[int, list[Line]]:
        """Return what has changed since the last call.

        The number says how many of the lines returned so far, from the first, are still valid. The list has
        all lines after the valid ones.
        """
        emulator, final = self._emulator, self._final
        if emulator is not self._reported:
            self._reported, final = emulator, 0
            lines = [*self._before, *emulator.lines]
        else:
            first, lines = emulator.lines_from(self._settled)
            if first > self._settled:
                lines.insert(0, _omission_line(emulator.dropped))
        self._settled = emulator.final_lines
        self._final = final + len(lines) - (emulator.line_count - emulator.final_lines)
        return final, _without_last_if_empty(lines)

    def all(self) -> list[Line]:
        """Return all lines of the output that are kept."""
        return [*self._before, *_without_last_if_empty(self._emulator.lines)]


def _make_emulator() -> TerminalEmulator:
    from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

    return TerminalEmulator()


def omission_text(characters: int) -> str:
    """Return the text of the line that stands for `characters` omitted characters of output."""
    return f"… {characters:,} characters omitted …"


def original_length(text: str) -> int:
    """Return the length of a text, including the characters that its omission lines stand for."""
    pattern = f"(?m)^{omission_text(0).replace('0', '([0-9,]+)')}$"
    return len(text) + sum(int(count.replace(",", "")) for count in re.findall(pattern, text))


def _omission_line(characters: int) -> Line:
    from acp_tui.workspace.terminals.sgr import Style

    return ((omission_text(characters), Style(dim=True)),)


def _without_last_if_empty(lines: list[Line]) -> list[Line]:
    return lines[:-1] if lines and not lines[-1] else lines

"""The output of one terminal, parsed into styled lines incrementally."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.session.text import TerminalText

if TYPE_CHECKING:
    from acp_tui.session.state import Terminal
    from acp_tui.workspace.terminals.terminal_emulator import Line, TerminalEmulator


class OutputLines:
    """Follows a terminal's output. A line marks where output was not kept."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._text = TerminalText()
        self.read_again()
        self._begin()

    def _begin(self) -> None:
        self._text = self._terminal.output
        self._position = 0
        self._before: list[Line] = []  # from before something that was not kept
        self._head: list[Line] | None = None  # … as it was then
        self._lost = 0  # characters between that and what the model has
        self._fed_from = 0  # where the model's output began
        self._model = _model()
        self.follow()

    def follow(self) -> bool:
        """Read new output. Return True if there was any."""
        output = self._terminal.output
        if output is not self._text:
            self._begin()  # the agent sent its whole output again
            return True
        if output.total == self._position:
            return False
        before, missing, after = output.since(self._position)
        self._model.feed(before)
        if missing:
            self._leave_out(missing, self._position + len(before))
        self._position = output.total
        self._model.feed(after)
        return True

    def _leave_out(self, missing: int, position: int) -> None:
        """Continue after a gap. Only the beginning of the earlier output is kept."""
        if self._head is None:
            self._head = _without_end(self._model.lines)
        else:
            self._lost += position - self._fed_from
        self._lost += missing
        self._fed_from = position + missing
        self._before = [*self._head, _gap(self._lost)]
        self._model = _model()

    def last(self, count: int) -> tuple[list[Line], int]:
        """The last `count` lines, and the number of lines before them. Cheap however many there are."""
        total = self._model.line_count
        start = max(0, total - count - 1)
        first, lines = self._model.lines_from(start)
        if not lines[-1]:
            lines.pop()  # after the last line end
            total -= 1
        if first > start:
            lines.insert(0, _gap(self._model.dropped))
        missing = count - len(lines)
        lines = [*self._before[-missing:], *lines] if missing > 0 else lines[-count:]
        return lines, max(0, len(self._before) + total - len(lines))

    def read_again(self) -> None:
        """Make the next `news` return everything again."""
        self._read: TerminalEmulator | None = None
        self._settled = 0  # in that model
        self._final = 0  # lines that were handed out and stay

    def news(self) -> tuple[int, list[Line]]:
        """Return how many of the lines returned so far are still valid, and the lines after them."""
        model, final = self._model, self._final
        if model is not self._read:
            self._read, final = model, 0
            lines = [*self._before, *model.lines]
        else:
            first, lines = model.lines_from(self._settled)
            if first > self._settled:
                lines.insert(0, _gap(model.dropped))
        self._settled = model.final_lines
        self._final = final + len(lines) - (model.line_count - model.final_lines)
        return final, _without_end(lines)

    def all(self) -> list[Line]:
        """All lines that are kept."""
        return [*self._before, *_without_end(self._model.lines)]


def _model() -> TerminalEmulator:
    from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

    return TerminalEmulator()


def omission_text(characters: int) -> str:
    """The text of the line that stands for omitted output."""
    return f"… {characters:,} characters omitted …"


def original_length(text: str) -> int:
    """The length of the text, counting the characters its omission lines stand for."""
    gaps = re.findall(f"(?m)^{omission_text(0).replace('0', '([0-9,]+)')}$", text)
    return len(text) + sum(int(gap.replace(",", "")) for gap in gaps)


def _gap(characters: int) -> Line:
    from acp_tui.workspace.terminals.sgr import Style

    return ((omission_text(characters), Style(dim=True)),)


def _without_end(lines: list[Line]) -> list[Line]:
    return lines[:-1] if lines and not lines[-1] else lines

"""The full, growing output of a terminal, for the screen that shows a single entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.drawing.ansi import line_segments
from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.drawing.wrap import hard_wrap, hard_wrap_count, make_strip
from acp_tui.ui.entries.terminal.output_lines import OutputLines

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Terminal
    from acp_tui.ui.drawing.body import DrawContext
    from acp_tui.workspace.terminals.terminal_emulator import Line

MAX_LINES = 100_000
"""If there are more lines than this, those that `OutputLines` no longer keeps are dropped here too."""


class FullOutput:
    """The lines of a terminal's output, as far as acp-tui keeps them.

    A line is wrapped only when it is drawn.
    """

    def __init__(self, terminal: Terminal, context: DrawContext, indent: int = 0) -> None:
        self._context = context
        self._indent = [Segment(" " * indent)] if indent else []
        self._width = context.width - indent
        self._output = OutputLines(terminal)
        self._lines: list[Line] = []
        self._heights = Heights()
        self._read()

    @property
    def height(self) -> int:
        """The number of lines after wrapping."""
        return self._heights.total

    def line(self, number: int) -> Strip:
        index, part = self._heights.at(number)
        wrapped = hard_wrap(line_segments(self._lines[index], self._context.palette), self._width)
        return make_strip(wrapped[part], self._indent)

    def copy_text(self) -> str:
        """Return the output as plain text."""
        return "\n".join(map(_text, self._lines))

    def update(self) -> bool:
        """Read new output, if any. Return True: a new body is never needed."""
        if self._output.follow():
            self._read()
        return True

    def _read(self) -> None:
        valid, new = self._output.changed_lines()
        if valid + len(new) > MAX_LINES:
            self._output.restart()
            valid, new = self._output.changed_lines()
        del self._lines[valid:]
        self._heights.truncate(valid)
        for line in new:
            self._lines.append(line)
            self._heights.append(hard_wrap_count(_text(line), self._width))


def _text(line: Line) -> str:
    return "".join(text for text, _ in line)

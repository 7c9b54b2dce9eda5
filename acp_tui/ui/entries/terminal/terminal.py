"""Draws a terminal: its command, how the command ended, and the output or its last lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_kinds.terminal import is_shown_by_call
from acp_tui.entry_labels import relative_path, terminal_command
from acp_tui.session.text.safe_text import visible, visible_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.ansi import line_segments
from acp_tui.ui.drawing.body import LinesBody, expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten
from acp_tui.ui.entries.terminal.full_output import FullOutput
from acp_tui.ui.entries.terminal.output_lines import OutputLines
from acp_tui.ui.entries.tool_call.headline import elapsed, headline

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Terminal
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.workspace.terminals.terminal_emulator import Line

INDENT = 4
TAIL_LINES = 12
"""The maximum number of lines of output in the transcript."""


class OutputBody:
    """A body with the last lines of a terminal's output."""

    def __init__(self, terminal: Terminal, context: DrawContext) -> None:
        self._context = context
        self._output = OutputLines(terminal)
        self._strips: list[Strip] | None = None

    def _lines(self) -> list[Strip]:
        if self._strips is None:
            self._strips = tail_strips(*self._output.last(TAIL_LINES), self._context)
        return self._strips

    @property
    def height(self) -> int:
        """The number of lines after wrapping."""
        return len(self._lines())

    def line(self, number: int) -> Strip:
        return self._lines()[number]

    def copy_text(self) -> str:
        """Return all output that is kept, as plain text."""
        return "\n".join("".join(text for text, _ in line) for line in self._output.all())

    def update(self) -> bool:
        """Read new output. Return True: a new body is never needed."""
        if self._output.follow():
            self._strips = None
        return True


class TerminalBody:
    """The body of a terminal that is an entry of its own, because no tool call shows it."""

    def __init__(self, terminal: Terminal, context: DrawContext) -> None:
        self._terminal = terminal
        self._context = context
        self._output: OutputBody | FullOutput | None = None
        if context.full:
            self._output = FullOutput(terminal, context, INDENT)
        elif not context.folded:
            self._output = OutputBody(terminal, context)
        self._headline: Strip | None = None

    @property
    def height(self) -> int:
        """The number of lines: one for the headline, and those of the output."""
        return 1 + (self._output.height if self._output is not None else 0)

    def line(self, number: int) -> Strip:
        """Draw one line. The headline of a running command shows the elapsed time, so it is not cached."""
        if number:
            assert self._output is not None
            return self._output.line(number - 1)
        if self._headline is None or self._terminal.ended_at is None:
            self._headline = self._draw_headline()
        return self._headline

    def can_fold(self) -> bool:
        """Return True if there is output."""
        return self._terminal.output.total > 0

    def _draw_headline(self) -> Strip:
        terminal, context = self._terminal, self._context
        palette = context.palette
        command = visible_line(terminal_command(terminal, context.cwd)) or "agent terminal"
        facts = [(exit_text(terminal), palette.error)]
        where = (
            f"  in {relative_path(terminal.cwd, context.cwd)}" if runs_elsewhere(terminal, context) else ""
        )
        title = [(command, palette.tool), (where, palette.dim)]
        if terminal.owner == "user" and terminal.ended_at is None:
            key = keys.KEYS["transcript.kill"].key_names(context.keymap)
            facts.append((f"{key} stops it", palette.dim))
        facts.append((elapsed(terminal.at, terminal.ended_at, context.clock), palette.dim))
        icon, status = "!" if terminal.owner == "user" else "❯", status_name(terminal)
        return headline(icon, title, facts, context, foldable=self.can_fold(), status=status)

    def copy_text(self) -> str:
        """Return the command and its output."""
        output = self._output or OutputBody(self._terminal, self._context)
        return f"$ {visible(self._terminal.command or '')}\n{output.copy_text()}"

    def update(self) -> bool:
        """Read new output. Return False once a tool call shows the terminal: then this entry is empty."""
        if is_shown_by_call(self._terminal, self._context.session):
            return False
        self._headline = None
        if self._output is not None:
            self._output.update()
        return True


def body(entry: Terminal, context: DrawContext) -> Body:
    """Draw a terminal; nothing if a tool call shows it."""
    return LinesBody([], "") if is_shown_by_call(entry, context.session) else TerminalBody(entry, context)


def tail_strips(lines: list[Line], hidden: int, context: DrawContext) -> list[Strip]:
    """Wrap and indent the last lines of an output. If lines are hidden, a line above says how many.

    `hidden` is the number of lines of output before `lines`. Unless the context is `full`, at most
    `TAIL_LINES` lines are shown, counted after wrapping.
    """
    width = context.width - INDENT
    indent = Segment(" " * INDENT)
    palette = context.palette
    wrapped = [
        (number, part)
        for number, line in enumerate(lines)
        for part in hard_wrap(line_segments(line, palette), width)
    ]
    if not context.full and len(wrapped) > TAIL_LINES:
        hidden += wrapped[-TAIL_LINES - 1][0] + 1  # including a line of which only the end is shown
        wrapped = wrapped[-TAIL_LINES:]
    strips = [make_strip(part, [indent]) for _, part in wrapped]
    if hidden > 0:
        noun = "line" if hidden == 1 else "lines"
        note = expander(shorten(f"▸ {hidden:,} more {noun}", width), palette.diff_fold)
        strips.insert(0, make_strip([note], [indent]))
    return strips


def runs_elsewhere(terminal: Terminal, context: DrawContext) -> bool:
    """Return True if the command runs in a directory other than the session's."""
    here = (context.cwd or context.session.cwd or "").rstrip("/")
    return bool(terminal.cwd) and (terminal.cwd or "").rstrip("/") != here


def exit_text(terminal: Terminal) -> str:
    """Return the name of the signal that ended the command, or `exit N`; "" if the code is 0 or unknown."""
    if terminal.signal:
        return visible_line(terminal.signal)
    return f"exit {terminal.exit_code}" if terminal.exit_code else ""


def status_name(terminal: Terminal) -> str:
    """Return the state of the command, named like the status of a tool call."""
    if terminal.ended_at is None:
        return "in_progress"
    return "failed" if terminal.signal or terminal.exit_code else "completed"

"""Draws a terminal: its command, how the command ended, and the output or its last lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_kinds.terminal import how_it_ended, is_shown_by_call
from acp_tui.entry_labels import terminal_command
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.session.terminal_text import TerminalText
from acp_tui.text_format import relative_path
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import Body, DrawContext, Heights, LinesBody, expander, more_lines
from acp_tui.ui.drawing.wrap import hard_wrap, hard_wrap_count, line_segments, make_strip, shorten
from acp_tui.ui.entries.headline import elapsed, headline

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Terminal
    from acp_tui.workspace.terminals.terminal_emulator import Line, TerminalEmulator


MAX_LINES = 100_000
"""If there are more lines than this, those that `OutputLines` no longer keeps are dropped here too."""
INDENT = 4
TAIL_LINES = 12
"""The maximum number of lines of output in the transcript."""
MAX_CHARACTERS = 100_000
"""The maximum number of characters of output to attach. The middle of a longer output is omitted."""


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
        command = escape_line(terminal_command(terminal, context.cwd)) or "agent terminal"
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
        return f"$ {escape_controls(self._terminal.command or '')}\n{output.copy_text()}"

    def update(self) -> bool:
        """Read new output. Return False once a tool call shows the terminal: then this entry is empty."""
        if is_shown_by_call(self._terminal, self._context.session):
            return False
        self._headline = None
        if self._output is not None:
            self._output.update()
        return True


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
    """Return the length of the text, including the characters that its omission lines stand for."""
    pattern = f"(?m)^{omission_text(0).replace('0', '([0-9,]+)')}$"
    return len(text) + sum(int(count.replace(",", "")) for count in re.findall(pattern, text))


def _omission_line(characters: int) -> Line:
    from acp_tui.workspace.terminals.screen_buffer import Style

    return ((omission_text(characters), Style(dim=True)),)


def _without_last_if_empty(lines: list[Line]) -> list[Line]:
    return lines[:-1] if lines and not lines[-1] else lines


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
        wrapped = hard_wrap(line_segments(self._lines[index], self._context.palette.terminal), self._width)
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
        for part in hard_wrap(line_segments(line, palette.terminal), width)
    ]
    if not context.full and len(wrapped) > TAIL_LINES:
        hidden += wrapped[-TAIL_LINES - 1][0] + 1  # including a line of which only the end is shown
        wrapped = wrapped[-TAIL_LINES:]
    strips = [make_strip(part, [indent]) for _, part in wrapped]
    if hidden > 0:
        note = expander(shorten(more_lines(hidden), width), palette.diff_fold)
        strips.insert(0, make_strip([note], [indent]))
    return strips


def runs_elsewhere(terminal: Terminal, context: DrawContext) -> bool:
    """Return True if the command runs in a directory other than the session's."""
    here = (context.cwd or context.session.cwd or "").rstrip("/")
    return bool(terminal.cwd) and (terminal.cwd or "").rstrip("/") != here


def exit_text(terminal: Terminal) -> str:
    """Return the name of the signal that ended the command, or `exit N`; "" if the code is 0 or unknown."""
    if terminal.signal:
        return escape_line(terminal.signal)
    return f"exit {terminal.exit_code}" if terminal.exit_code else ""


def status_name(terminal: Terminal) -> str:
    """Return the state of the command, named like the status of a tool call."""
    if terminal.ended_at is None:
        return "in_progress"
    return "failed" if terminal.signal or terminal.exit_code else "completed"


def command_output(terminal: Terminal) -> str:
    """Return a terminal's command, its output, and how the command ended."""
    lines = ["".join(text for text, _ in line).rstrip() for line in OutputLines(terminal).all()]
    text = "\n".join(lines).rstrip("\n")
    if len(text) > MAX_CHARACTERS:
        head, tail = MAX_CHARACTERS // 4, MAX_CHARACTERS * 3 // 4
        text = f"{text[:head]}\n{omission_text(original_length(text[head:-tail]))}\n{text[-tail:]}"
    end = f"[{how_it_ended(terminal)}]"
    return "\n".join(filter(None, (f"$ {escape_controls(terminal.command or '')}", text, end))) + "\n"

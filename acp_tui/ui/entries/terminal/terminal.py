"""A terminal: what it ran, how it ended, and the last lines of its output in colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_display import terminal_command
from acp_tui.session.state import TerminalRef
from acp_tui.session.text import visible, visible_line
from acp_tui.ui.drawing.ansi import line_segments
from acp_tui.ui.drawing.body import expander
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten
from acp_tui.ui.entries.terminal.output import OutputLines
from acp_tui.ui.entries.terminal.whole_output import FullOutput
from acp_tui.ui.entries.tool_call.headline import Headline, elapsed, relative_path

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.controller.display import Line
    from acp_tui.session.state import Session, Terminal
    from acp_tui.ui.drawing.body import Body, DrawContext

INDENT = 4
TAIL_LINES = 12
"""Lines of output that are shown in the transcript."""


class OutputBody:
    """The end of the output alone, without a word about the command."""

    def __init__(self, terminal: Terminal, context: DrawContext) -> None:
        self._context = context
        self._output = OutputLines(terminal)
        self._strips: list[Strip] | None = None

    def _lines(self) -> list[Strip]:
        if self._strips is None:
            output, context = self._output, self._context
            self._strips = tail_strips(*output.last(TAIL_LINES), context)
        return self._strips

    @property
    def height(self) -> int:
        """The last lines, folded to the width."""
        return len(self._lines())

    def line(self, number: int) -> Strip:
        """One of them."""
        return self._lines()[number]

    def copy_text(self) -> str:
        """All the output there is."""
        return "\n".join("".join(text for text, _ in line) for line in self._output.all())

    def update(self) -> bool:
        """Costs what came since."""
        if self._output.follow():
            self._strips = None
        return True


class TerminalBody:
    """A terminal that no tool call shows."""

    def __init__(self, terminal: Terminal, context: DrawContext) -> None:
        self._terminal = terminal
        self._context = context
        self._output: OutputBody | FullOutput | None = None
        if context.whole:
            self._output = FullOutput(terminal, context, INDENT)
        elif not context.folded:
            self._output = OutputBody(terminal, context)
        self._headline: Strip | None = None

    @property
    def height(self) -> int:
        """The command's line, and the output."""
        return 1 + (self._output.height if self._output is not None else 0)

    def line(self, number: int) -> Strip:
        """The first says what runs; it changes with the clock while it does."""
        if number:
            assert self._output is not None
            return self._output.line(number - 1)
        if self._headline is None or self._terminal.ended_at is None:
            self._headline = self._drawn_headline()
        return self._headline

    def _drawn_headline(self) -> Strip:
        terminal, context = self._terminal, self._context
        palette = context.palette
        command = visible_line(terminal_command(terminal, context.cwd)) or "a terminal of the agent"
        facts = [(exit_text(terminal), palette.error)]
        where = (
            f"  in {relative_path(terminal.cwd, context.cwd)}" if runs_elsewhere(terminal, context) else ""
        )
        title = [(command, palette.tool), (where, palette.dim)]
        if terminal.owner == "user" and terminal.ended_at is None:
            facts.append(("x ends it", palette.dim))
        facts.append((elapsed(terminal.at, terminal.ended_at, context.now), palette.dim))
        foldable = terminal.output.total > 0
        headline = Headline.of_entry("!" if terminal.owner == "user" else "❯", context, foldable=foldable)
        return headline.strip(title, facts, context, status_name(terminal))

    def copy_text(self) -> str:
        """The command and its output."""
        output = self._output or OutputBody(self._terminal, self._context)
        return f"$ {visible(self._terminal.command or '')}\n{output.copy_text()}"

    def update(self) -> bool:
        """Costs what came since. When a call has begun to show it, nothing is to be seen here any more."""
        if is_shown_by_call(self._terminal, self._context.session):
            return False
        self._headline = None
        if self._output is not None:
            self._output.update()
        return True


class _Elsewhere:
    """A terminal that its tool call shows: nothing here, unless that changes."""

    height = 0

    def line(self, number: int) -> Strip:
        raise IndexError(number)

    def copy_text(self) -> str:
        return ""

    def update(self) -> bool:
        return False


def body(entry: Terminal, context: DrawContext) -> Body:
    """A terminal in the transcript; the tool call that shows it stands for it."""
    return _Elsewhere() if is_shown_by_call(entry, context.session) else TerminalBody(entry, context)


def is_shown_by_call(terminal: Terminal, session: Session) -> bool:
    """Is it to be seen in a tool call?"""
    call = session.terminal_calls.get(terminal.terminal_id)
    return (
        call is not None
        and session.terminals.get(terminal.terminal_id) is terminal
        and any(
            isinstance(item, TerminalRef) and item.terminal_id == terminal.terminal_id
            for item in call.content
        )
    )


def tail_strips(lines: list[Line], hidden: int, context: DrawContext) -> list[Strip]:
    """Lines of output, indented and folded; the last of them where not all are wanted."""
    width = context.width - INDENT
    indent = Segment(" " * INDENT)
    palette = context.palette
    folded = [
        (number, part)
        for number, line in enumerate(lines)
        for part in hard_wrap(line_segments(line, palette), width)
    ]
    if not context.whole and len(folded) > TAIL_LINES:
        folded = folded[-TAIL_LINES:]
        hidden += folded[0][0]
    strips = [make_strip(part, [indent]) for _, part in folded]
    if hidden > 0:
        lines_word = "line" if hidden == 1 else "lines"
        note = expander(shorten(f"▸ {hidden:,} more {lines_word}", width), palette.diff_fold)
        strips.insert(0, make_strip([note], [indent]))
    return strips


def runs_elsewhere(terminal: Terminal, context: DrawContext) -> bool:
    """Does it run in another directory than the session?"""
    here = (context.cwd or context.session.cwd or "").rstrip("/")
    return bool(terminal.cwd) and (terminal.cwd or "").rstrip("/") != here


def exit_text(terminal: Terminal) -> str:
    """How it ended, when that is worth a word."""
    if terminal.signal:
        return visible_line(terminal.signal)
    return f"exit {terminal.exit_code}" if terminal.exit_code else ""


def status_name(terminal: Terminal) -> str:
    """Its state, as that of a tool call."""
    if terminal.ended_at is None:
        return "in_progress"
    return "failed" if terminal.signal or terminal.exit_code else "completed"

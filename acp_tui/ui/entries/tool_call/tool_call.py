"""Draws a tool call: a headline, and below it the command, the changed files or the output."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.console.quantities import pluralize
from acp_tui.entry_kinds.tool_call import location_label, starts_folded
from acp_tui.entry_labels import KIND_ICONS, OTHER_ICON, call_title
from acp_tui.session.diff_position import first_line
from acp_tui.session.state import Diff
from acp_tui.ui.drawing.body import LinesBody, expander
from acp_tui.ui.drawing.json_lines import json_body
from acp_tui.ui.drawing.text_layout import MAX_LINES_FULL
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten_path
from acp_tui.ui.entries.content import content_lines
from acp_tui.ui.entries.terminal.full_output import FullOutput
from acp_tui.ui.entries.terminal.terminal import OutputBody, exit_text
from acp_tui.ui.entries.tool_call.headline import elapsed, headline, line_counts
from acp_tui.ui.entries.tool_call.pieces import Piece, common_change, pieces
from acp_tui.ui.entries.tool_call.text_content import plain_strips, text_body

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.diffing import Difference
    from acp_tui.session.state import Location, ToolCall
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.entries.tool_call.headline import StyledText

INDENT = 4
MAX_LOCATIONS = 5
MAX_COMMAND_LINES = 6
MAX_COUNTED_LINES = 1000
"""Only this many lines of a command are wrapped and counted: wrapping megabytes takes half a second."""
_INDENT = Segment(" " * INDENT)


def body(entry: ToolCall, context: DrawContext) -> Body:
    """Draw a tool call."""
    return ToolCallBody(entry, context)


class ToolCallBody:
    """The body of a tool call: its headline and pieces. An update redraws only changed or moved pieces."""

    def __init__(self, call: ToolCall, context: DrawContext) -> None:
        self._call = call
        self._context = context
        self._started_folded = starts_folded(call)
        self._pieces: list[Piece] = []
        self._bodies: list[Body] = []
        self._headline: Strip | None = None
        if not context.folded:
            self._update_pieces()

    # ------------------------------------------------------------------------- pieces

    def _update_pieces(self) -> None:
        new = list(pieces(self._call, self._context))
        bodies: list[Body] = []
        for index, piece in enumerate(new):
            unchanged = index < len(self._pieces) and piece.looks_like(self._pieces[index])
            if unchanged and (piece.sort != "terminal" or self._bodies[index].update()):
                bodies.append(self._bodies[index])
            else:
                bodies.append(self._make_body(piece))
        self._pieces, self._bodies = new, bodies

    def _make_body(self, piece: Piece) -> Body:
        context, what = self._context, piece.what
        match piece.sort:
            case "title":
                return LinesBody(plain_strips(what, context.palette.tool, context), "")
            case "locations":
                return _locations(what, context)
            case "diff":
                from acp_tui.ui.entries.diff.diff_body import DiffBody

                return DiffBody(what, context, heading=piece.label, first=piece.first)
            case "terminal" if context.full:
                return FullOutput(what, context, INDENT)
            case "terminal":
                return OutputBody(what, context)
            case "command":
                return _command(what, piece.label, context)
            case "content" if what.kind == "text" and (context.full or not what.for_assistant_only):
                return text_body(what, piece.label, context)
            case "content":
                return LinesBody(content_lines(what, context, [_INDENT]), what.text)
            case _:
                return json_body(what, context, label=piece.label)

    # ------------------------------------------------------------------------- lines

    @property
    def height(self) -> int:
        """The number of lines: one for the headline, and those of all pieces."""
        return 1 + sum(part.height for part in self._bodies)

    def line(self, number: int) -> Strip:
        """Draw one line. The headline of a running call shows the elapsed time and is not cached."""
        if not number:
            if self._headline is None or not self._call.done:
                self._headline = self._draw_headline()
            return self._headline
        number -= 1
        for part in self._bodies:
            if number < part.height:
                return part.line(number)
            number -= part.height
        raise IndexError(number)

    def can_fold(self) -> bool:
        """Return True if there is something below the headline, unless it is folded."""
        return self.height > 1 or (self._context.folded and any(pieces(self._call, self._context)))

    def _draw_headline(self) -> Strip:
        call, context = self._call, self._context
        icon = KIND_ICONS.get(call.kind, OTHER_ICON)
        title = [(call_title(call, context.cwd), context.palette.tool)]
        return headline(icon, title, self._facts(), context, foldable=self.can_fold(), status=call.status)

    def _facts(self) -> list[StyledText]:
        """Return the headline's details: created or deleted files, changed lines, exit code, duration."""
        call, context = self._call, self._context
        palette = context.palette
        facts: list[StyledText] = []
        differences = _differences(call)
        if change := common_change(call):
            facts.append((change, palette.dim))
        added, removed = sum(one.added for one in differences), sum(one.removed for one in differences)
        facts += line_counts(added, removed, palette)
        terminals = [piece.what for piece in pieces(call, context) if piece.sort == "terminal"]
        facts += [(exit_text(terminal), palette.error) for terminal in terminals if exit_text(terminal)]
        if call.exit_code and not terminals:
            facts.append((f"exit {call.exit_code}", palette.error))
        if time := elapsed(call.began, call.ended_at, None if call.done else context.clock):
            facts.append((time, palette.dim))
        return facts

    def copy_text(self) -> str:
        """Return the title and the text of all pieces, even while the call is folded."""
        bodies = self._bodies or [self._make_body(piece) for piece in pieces(self._call, self._context)]
        texts = [call_title(self._call, self._context.cwd), *(part.copy_text() for part in bodies)]
        return "\n".join(text for text in texts if text)

    def update(self) -> bool:
        """Redraw the pieces that have changed.

        Return False if a new body is needed because the call must be folded or unfolded, such as when it
        fails.
        """
        if starts_folded(self._call) != self._started_folded:
            return False
        self._headline = None
        if not self._context.folded:
            self._update_pieces()
        return True


def _differences(call: ToolCall) -> list[Difference]:
    diffs = [item for item in call.content if isinstance(item, Diff)]
    if not diffs:
        return []
    from acp_tui.ui.entries.diff.diff_body import compute_difference

    return [compute_difference(diff, first_line(call, diff)) for diff in diffs]


def _command(command: str, where: str, context: DrawContext) -> LinesBody:
    """Draw a command and, unless `where` is empty, the directory in which it runs (`where`)."""
    palette = context.palette
    first, follow = [_INDENT, Segment("$ ", palette.dim)], [_INDENT, Segment("  ")]
    wrapped = (
        part
        for text in command.split("\n")
        for part in hard_wrap([Segment(text, palette.text)], context.width - INDENT - 2)
    )
    most = MAX_LINES_FULL if context.full else MAX_COUNTED_LINES
    lines = list(islice(wrapped, most + 1))
    shown = most if context.full else MAX_COMMAND_LINES
    if (missing := len(lines) - shown) > (0 if context.full else 1):
        more = "more" if len(lines) > most else f"{missing} more lines"
        lines[shown:] = [[expander(f"▸ {more}", palette.diff_fold)]]
    if where:
        room = context.width - INDENT - 2
        place = Segment(f"in {shorten_path(where, room - 3)}", palette.dim)
        if sum(span.cell_length for span in lines[-1]) + 2 + place.cell_length <= room:
            lines[-1] = [*lines[-1], Segment("  "), place]
        else:
            lines.append([place])
    return LinesBody(
        [make_strip(line, follow if number else first) for number, line in enumerate(lines)], command
    )


def _locations(locations: list[Location], context: DrawContext) -> LinesBody:
    palette = context.palette
    texts = [location_label(place, context.cwd) for place in locations]
    shown = texts if context.full else texts[:MAX_LOCATIONS]
    room = context.width - INDENT - 2
    strips = [
        make_strip([Segment("↳ ", palette.faint), Segment(shorten_path(text, room), palette.dim)], [_INDENT])
        for text in shown
    ]
    if len(texts) > len(shown):
        more = pluralize(len(texts) - len(shown), "more file")
        strips.append(make_strip([expander(f"▸ {more}", palette.diff_fold)], [_INDENT]))
    return LinesBody(strips, "\n".join(texts))

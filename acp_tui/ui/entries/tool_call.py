"""Draws a tool call: a headline, and below it the command, the changed files or the output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.console import pluralize
from acp_tui.entry_kinds.tool_call import (
    ShownContent,
    location_label,
    other_locations,
    raw_values,
    shown_content,
    starts_folded,
    title_names,
)
from acp_tui.entry_labels import (
    KIND_ICONS,
    OTHER_ICON,
    call_command,
    call_title,
    file_change,
    terminal_command,
)
from acp_tui.session.diff_position import first_line
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.session.state import Content, Diff, Location, OwnToolCall, Terminal, ToolCall
from acp_tui.text_format import relative_path
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody, expander, more_lines
from acp_tui.ui.drawing.text_layout import MAX_LINES_FULL, json_body, wrapped_lines
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten, shorten_path, wrap
from acp_tui.ui.entries.content import content_lines
from acp_tui.ui.entries.headline import StyledText, elapsed, headline, line_counts
from acp_tui.ui.entries.terminal import FullOutput, OutputBody, exit_text, runs_elsewhere, tail_strips

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.diffing import Difference
    from acp_tui.ui.drawing.text_layout import Wrapper


INDENT = 4
_INDENT = Segment(" " * INDENT)
FILE_KINDS = ("read", "search", "fetch")
"""Kinds of calls whose text comes from a file or a web page.

Such text is drawn as Markdown only if all of it is in a code fence.
"""
FAILURE_MESSAGE = "message"
"""The `kind` to pass to `text_body` for text that says why a call failed.

Such text is drawn as prose even if it is fenced.
"""
MAX_LINES = 20
"""The maximum number of lines of text in the transcript."""
MAX_MARKDOWN_LINES_FULL = 400
"""Like `MAX_LINES_FULL`, but for Markdown, which takes longer to draw."""
_FENCED = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?\1\s*", re.DOTALL)
_NUMBERED = re.compile(r"^[-+ ]? *[0-9]+[|\t]", re.MULTILINE)
RESERVED_WIDTH = 24
"""How many cells of a headline are not available to the title.

They are for the icons on the left, and the details on the right: changed lines, exit code and duration.
"""
MAX_LOCATIONS = 5
MAX_COMMAND_LINES = 6
MAX_COUNTED_LINES = 1000
"""Only this many lines of a command are wrapped and counted: wrapping megabytes takes half a second."""


class ToolCallBody:
    """The body of a tool call: its headline and pieces. An update redraws only changed or moved pieces."""

    def __init__(self, call: ToolCall, context: DrawContext) -> None:
        self._call = call
        self._context = context
        self._started_folded = starts_folded(call)
        self._pieces: list[ContentPiece] = []
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

    def _make_body(self, piece: ContentPiece) -> Body:
        context, what = self._context, piece.what
        match piece.sort:
            case "title":
                return LinesBody(plain_strips(what, context.palette.tool, context), "")
            case "locations":
                return _locations(what, context)
            case "diff":
                from acp_tui.ui.entries.diff import DiffBody

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
        facts += line_counts(added, removed)
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


def text_body(content: Content, kind: str, context: DrawContext) -> Body:
    """Draw one text block of a tool call. `kind` is the kind of the call, or `FAILURE_MESSAGE`."""
    if kind == "execute":
        return _output(content, context)
    text, style, is_fenced = content.text, context.palette.text, _FENCED.fullmatch(content.text) is not None
    if kind == FAILURE_MESSAGE and is_fenced:
        strips = plain_strips(strip_fence(text), style, context, wrapper=wrap)
    elif _is_listing(text) or (kind in FILE_KINDS and not is_fenced):
        strips = plain_strips(text, style, context)
    else:
        strips = markdown_strips(text, context)
    return LinesBody(strips, text)


def _is_listing(text: str) -> bool:
    """Return True if the text has numbered lines of a file, which Markdown would join into a paragraph."""
    return len(_NUMBERED.findall(text, 0, MAX_LINES * 200)) > 1


def markdown_strips(text: str, context: DrawContext, indent_cells: int = INDENT) -> list[Strip]:
    """Draw the first lines of text as Markdown, and `▸ more` below them if lines are omitted."""
    from acp_tui.ui.markdown.document import Document

    limit = MAX_MARKDOWN_LINES_FULL if context.full else MAX_LINES
    length = limit * context.width
    indent = Segment(" " * indent_cells)
    document = Document(GrowingText(text[:length].strip("\n")), context.palette, context.width, [indent])
    document.settle(0, limit)
    strips = [document.line(number) for number in range(min(document.height, limit))]
    if len(strips) < document.height or length < len(text):
        strips.append(make_strip([expander("▸ more", context.palette.diff_fold)], [indent]))
    return strips


def strip_fence(text: str) -> str:
    """Remove the code fence around the whole text, if any. Many agents put a fence even around prose."""
    match = _FENCED.fullmatch(text)
    return match[2] if match else text


def plain_strips(
    text: str, style: Style, context: DrawContext, *, wrapper: Wrapper = hard_wrap
) -> list[Strip]:
    """Draw the first lines of text without parsing Markdown. If lines are omitted, say how many."""
    lines = text.strip("\n").split("\n")
    limit = MAX_LINES_FULL if context.full else MAX_LINES
    strips: list[Strip] = []
    for number, line in enumerate(lines):
        strips += wrapped_lines(line, style, context.width, INDENT, wrapper=wrapper)
        if len(strips) > limit:
            note = shorten(more_lines(len(lines) - number), context.width - INDENT)
            return [*strips[:limit], Strip([_INDENT, expander(note, context.palette.diff_fold)])]
    return strips


def _output(content: Content, context: DrawContext) -> LinesBody:
    """Draw the last lines of a command's output, with the colours that the output specifies."""
    from acp_tui.workspace.terminals.terminal_emulator import parse_styled_text

    text = strip_fence(content.coloured if content.coloured is not None else content.text).rstrip()
    lines = parse_styled_text(text)
    return LinesBody(tail_strips(lines, 0, context), content.text)


class ContentPiece(NamedTuple):
    """A part of a tool call, shown below the headline."""

    sort: Literal["title", "locations", "command", "diff", "terminal", "content", "input", "output"]
    what: Any
    label: str = ""  # shown above or beside the piece; for content, the kind that selects how to draw it
    first: int = 1  # the number of a diff's first line

    def looks_like(self, other: ContentPiece) -> bool:
        """Return True if this piece and `other` are drawn the same.

        Terminals and raw values are compared by identity, because terminals grow and values can be large.
        """
        if self.what is not other.what and self.sort in ("terminal", "input", "output"):
            return False
        return self[2:] == other[2:] and self.sort == other.sort and bool(self.what == other.what)


def pieces(call: ToolCall, context: DrawContext) -> Iterator[ContentPiece]:
    """Yield the pieces of a call, in order, with raw input and output only if there is no other content."""
    if context.full and not _title_fits(call, context):
        yield ContentPiece("title", call_title(call, context.cwd))
    locations = other_locations(call, context.cwd)
    if locations:
        yield ContentPiece("locations", locations)
    several = sum(isinstance(item, Diff) for item in call.content) > 1
    empty = True
    for item in shown_content(call, context.session):
        command = _command_piece(call, context, item)
        if command is not None and (empty or isinstance(item, Terminal)):
            yield command
        empty = False
        yield _piece(item, call, context, several=several)
    if empty:
        if call_command(call) and (command := _command_piece(call, context)) is not None:
            yield command
        for label, value in raw_values(call):
            yield ContentPiece(label, value, label)


def _piece(item: ShownContent, call: ToolCall, context: DrawContext, *, several: bool) -> ContentPiece:
    if isinstance(item, Diff):
        named_in_title = not several and title_names(call, item.path, context.cwd)
        label = "" if named_in_title else relative_path(item.path, context.cwd)
        if label and (change := file_change(item, call.kind)):
            label = f"{label}  ({change})"
        return ContentPiece("diff", item, label, first_line(call, item))
    if isinstance(item, Terminal):
        return ContentPiece("terminal", item)
    failure = call.status == "failed" and call.kind != "execute"
    kind = "other" if call.kind == "execute" and item.of_request else call.kind
    return ContentPiece("content", item, FAILURE_MESSAGE if failure else kind)


def _command_piece(
    call: ToolCall, context: DrawContext, shown: ShownContent | None = None
) -> ContentPiece | None:
    """Return a piece with the command of a call and, if it is not the session's, the command's directory.

    `shown` is the content that follows the piece, if any. If the command is unknown, the title is used
    instead. Returns None if the call runs no command, or if the headline shows the whole command and the
    command runs in the session's directory.
    """
    if isinstance(shown, Terminal):
        command = terminal_command(shown, context.cwd) or call_command(call)
        where = relative_path(shown.cwd, context.cwd) if runs_elsewhere(shown, context) else ""
    elif call.kind == "execute":
        command, given = call_command(call), call.raw_input
        cwd = escape_line(str(given.get("cwd") or "")) if isinstance(given, dict) else ""
        elsewhere = cwd.rstrip("/") not in ("", context.cwd.rstrip("/"))
        where = relative_path(cwd, context.cwd) if elsewhere else ""
    else:
        return None
    command = command or call_title(call, context.cwd)
    return (
        ContentPiece("command", command, where) if where or not _title_shows(command, call, context) else None
    )


def _title_shows(command: str, call: ToolCall, context: DrawContext) -> bool:
    return escape_invisible_line(command) in call_title(call, context.cwd) and _title_fits(call, context)


def _title_fits(call: ToolCall, context: DrawContext) -> bool:
    return cell_len(call_title(call, context.cwd)) <= context.width - RESERVED_WIDTH


def common_change(call: ToolCall) -> str:
    """Return `new`, `deleted` or `now empty` if that applies to all changed files of the call, else ""."""
    changes = {file_change(item, call.kind) for item in call.content if isinstance(item, Diff)}
    return changes.pop() if len(changes) == 1 else ""


def _differences(call: ToolCall) -> list[Difference]:
    diffs = [item for item in call.content if isinstance(item, Diff)]
    if not diffs:
        return []
    from acp_tui.ui.entries.diff import compute_difference

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
        if Segment.get_line_length(lines[-1]) + 2 + place.cell_length <= room:
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


def own_tool_call_body(entry: OwnToolCall, context: DrawContext) -> Body:
    """Draw a call of one of acp-tui's own tools."""
    return ToolCallBody(entry.call, context)

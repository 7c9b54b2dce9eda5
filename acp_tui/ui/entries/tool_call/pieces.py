"""What a tool call shows below its headline, in order, and what it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.cells import cell_len

from acp_tui.entry_display import (
    call_command,
    call_title,
    file_change,
    relative_path,
    repeats_raw_input,
    terminal_command,
)
from acp_tui.session.diff_lines import first_line
from acp_tui.session.invisible import reveal_line
from acp_tui.session.state import Diff, Terminal, TerminalRef
from acp_tui.session.text import visible_line
from acp_tui.ui.entries.terminal.terminal import runs_elsewhere
from acp_tui.ui.entries.tool_call.text_content import FAILURE_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.session.state import Location, ToolCall, ToolContent
    from acp_tui.ui.drawing.body import DrawContext

RESERVED_WIDTH = 24
"""Cells that signs and facts may take from a title."""


class Piece(NamedTuple):
    """One thing that a call shows."""

    sort: Literal["title", "locations", "command", "diff", "terminal", "content", "input", "output"]
    what: Any
    label: str = ""  # what stands above or beside it; of content, the kind of call that it is drawn for
    first: int = 1  # the number of a diff's first line

    def same(self, other: Piece) -> bool:
        """Would it look the same? A terminal grows, and large values are not compared."""
        if self.what is not other.what and self.sort in ("terminal", "input", "output"):
            return False
        return self[2:] == other[2:] and self.sort == other.sort and bool(self.what == other.what)


def pieces(call: ToolCall, context: DrawContext) -> Iterator[Piece]:
    """All of it, in order."""
    if context.whole and not _title_fits(call, context):
        yield Piece("title", call_title(call, context.cwd))
    locations = _other_locations(call, context.cwd)
    if locations:
        yield Piece("locations", locations)
    several = sum(isinstance(item, Diff) for item in call.content) > 1
    empty = True
    for item in call.content:
        piece = _piece(item, call, context, several=several)
        if piece is None:
            continue
        command = _command_piece(call, context, piece)
        if command is not None and (empty or piece.sort == "terminal"):
            yield command
        empty = False
        yield piece
    if empty:  # all that is known of it then
        if call.kind == "execute" and call_command(call):
            if (command := _command_piece(call, context)) is not None:
                yield command
        elif call.raw_input not in (None, {}, ""):
            yield Piece("input", call.raw_input, "input")
        if call.raw_output not in (None, {}, ""):
            yield Piece("output", call.raw_output, "output")


def _piece(item: ToolContent, call: ToolCall, context: DrawContext, *, several: bool) -> Piece | None:
    if isinstance(item, Diff):
        label = (
            relative_path(item.path, context.cwd)
            if several or not _says(call, item.path, context.cwd)
            else ""
        )
        if label and (what := file_change(item, call.kind)):
            label = f"{label}  ({what})"
        return Piece("diff", item, label, first_line(call, item))
    if isinstance(item, TerminalRef):
        terminal = context.session.terminals.get(item.terminal_id)
        return Piece("terminal", terminal) if terminal is not None else None
    if item.kind == "text" and (not item.text.strip() or repeats_raw_input(item, call)):
        return None
    failure = call.status == "failed" and call.kind != "execute"
    return Piece("content", item, FAILURE_MESSAGE if failure else call.kind)


def _command_piece(call: ToolCall, context: DrawContext, shown: Piece | None = None) -> Piece | None:
    """The whole command, and where it runs, unless the headline says so much."""
    if shown is not None and shown.sort == "terminal":
        terminal: Terminal = shown.what
        command = terminal_command(terminal, context.cwd) or call_command(call)
        where = relative_path(terminal.cwd, context.cwd) if runs_elsewhere(terminal, context) else ""
    elif call.kind == "execute":
        command, given = call_command(call), call.raw_input
        cwd = visible_line(str(given.get("cwd") or "")) if isinstance(given, dict) else ""
        where = (
            relative_path(cwd, context.cwd) if cwd.rstrip("/") not in ("", context.cwd.rstrip("/")) else ""
        )
    else:
        return None
    command = command or call_title(call, context.cwd)
    return Piece("command", command, where) if where or not _said(command, call, context) else None


def _said(command: str, call: ToolCall, context: DrawContext) -> bool:
    """Does the headline tell all of it?"""
    return reveal_line(command) in call_title(call, context.cwd) and _title_fits(call, context)


def _title_fits(call: ToolCall, context: DrawContext) -> bool:
    return cell_len(call_title(call, context.cwd)) <= context.width - RESERVED_WIDTH


def common_fate(call: ToolCall) -> str:
    """What to say where files were made or deleted and nothing else was done to any."""
    done = {file_change(item, call.kind) for item in call.content if isinstance(item, Diff)}
    return done.pop() if len(done) == 1 else ""


def _other_locations(call: ToolCall, cwd: str) -> tuple[Location, ...]:
    """The files that neither the title nor a diff names."""
    known = {item.path for item in call.content if isinstance(item, Diff)}
    known.add(cwd)  # where a command runs is no file that it touches
    return tuple(
        place for place in call.locations if place.path not in known and not _says(call, place.path, cwd)
    )


def _says(call: ToolCall, path: str, cwd: str) -> bool:
    """Does the title name the file? Of one outside the session's directory it has to say all of the path."""
    inside = not cwd or relative_path(path, cwd) != path or not path.startswith("/")
    title = call_title(call, cwd)
    return path in title or (inside and path.rstrip("/").rpartition("/")[2] in title)

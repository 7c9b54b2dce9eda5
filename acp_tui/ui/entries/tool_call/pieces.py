"""The pieces that are shown below the headline of a tool call, such as the command and the diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.cells import cell_len

from acp_tui.entry_kinds.tool_call import other_locations, raw_values, shown_content, title_names
from acp_tui.entry_labels import (
    call_command,
    call_title,
    file_change,
    relative_path,
    terminal_command,
)
from acp_tui.session.diff_position import first_line
from acp_tui.session.state import Diff, Terminal
from acp_tui.session.text.invisible import reveal_line
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.entries.terminal.terminal import runs_elsewhere
from acp_tui.ui.entries.tool_call.text_content import FAILURE_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.entry_kinds.tool_call import ShownContent
    from acp_tui.session.state import ToolCall
    from acp_tui.ui.drawing.body import DrawContext

RESERVED_WIDTH = 24
"""How many cells of a headline are not available to the title.

They are for the icons on the left, and the details on the right: changed lines, exit code and duration.
"""


class Piece(NamedTuple):
    """A part of a tool call, shown below the headline."""

    sort: Literal["title", "locations", "command", "diff", "terminal", "content", "input", "output"]
    what: Any
    label: str = ""  # shown above or beside the piece; for content, the kind that selects how to draw it
    first: int = 1  # the number of a diff's first line

    def looks_like(self, other: Piece) -> bool:
        """Return True if this piece and `other` are drawn the same.

        Terminals and raw values are compared by identity, because terminals grow and values can be large.
        """
        if self.what is not other.what and self.sort in ("terminal", "input", "output"):
            return False
        return self[2:] == other[2:] and self.sort == other.sort and bool(self.what == other.what)


def pieces(call: ToolCall, context: DrawContext) -> Iterator[Piece]:
    """Yield the pieces of a call, in order, with raw input and output only if there is no other content."""
    if context.full and not _title_fits(call, context):
        yield Piece("title", call_title(call, context.cwd))
    locations = other_locations(call, context.cwd)
    if locations:
        yield Piece("locations", locations)
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
            yield Piece(label, value, label)


def _piece(item: ShownContent, call: ToolCall, context: DrawContext, *, several: bool) -> Piece:
    if isinstance(item, Diff):
        named_in_title = not several and title_names(call, item.path, context.cwd)
        label = "" if named_in_title else relative_path(item.path, context.cwd)
        if label and (change := file_change(item, call.kind)):
            label = f"{label}  ({change})"
        return Piece("diff", item, label, first_line(call, item))
    if isinstance(item, Terminal):
        return Piece("terminal", item)
    failure = call.status == "failed" and call.kind != "execute"
    kind = "other" if call.kind == "execute" and item.of_request else call.kind
    return Piece("content", item, FAILURE_MESSAGE if failure else kind)


def _command_piece(call: ToolCall, context: DrawContext, shown: ShownContent | None = None) -> Piece | None:
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
        cwd = visible_line(str(given.get("cwd") or "")) if isinstance(given, dict) else ""
        elsewhere = cwd.rstrip("/") not in ("", context.cwd.rstrip("/"))
        where = relative_path(cwd, context.cwd) if elsewhere else ""
    else:
        return None
    command = command or call_title(call, context.cwd)
    return Piece("command", command, where) if where or not _title_shows(command, call, context) else None


def _title_shows(command: str, call: ToolCall, context: DrawContext) -> bool:
    return reveal_line(command) in call_title(call, context.cwd) and _title_fits(call, context)


def _title_fits(call: ToolCall, context: DrawContext) -> bool:
    return cell_len(call_title(call, context.cwd)) <= context.width - RESERVED_WIDTH


def common_change(call: ToolCall) -> str:
    """Return `new`, `deleted` or `now empty` if that applies to all changed files of the call, else ""."""
    changes = {file_change(item, call.kind) for item in call.content if isinstance(item, Diff)}
    return changes.pop() if len(changes) == 1 else ""

"""Helpers for tests of bodies: contexts, entries in a session, and bodies as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rich.style import Style

from acp_tui.protocol.raw_values import read_command, read_paths
from acp_tui.session.state import Entry, Session, Terminal, TerminalRef, ToolCall
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.theme.palette import SYNTAX, Palette

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.ui.drawing.body import Body

CWD = "/home/ada/project"
PALETTE = Palette(
    text=Style(color="#dddddd"),
    dim=Style(color="#888888"),
    faint=Style(color="#555555"),
    success=Style(color="#00ff00"),
    error=Style(color="#ff0000"),
    diff_context=Style(color="#cccccc"),
    diff_number=Style(color="#666666"),
    diff_added=Style(bgcolor="#002200"),
    diff_added_mark=Style(color="#00ff00", bgcolor="#002200"),
    diff_added_word=Style(bgcolor="#005500"),
    diff_removed=Style(bgcolor="#220000"),
    diff_removed_mark=Style(color="#ff0000", bgcolor="#220000"),
    diff_removed_word=Style(bgcolor="#550000"),
    diff_fold=Style(color="#777777"),
    syntax={name: Style(color=f"#0000{number:02x}") for number, name in enumerate(SYNTAX, 16)},
    terminal=tuple(f"#1111{number:02x}" for number in range(16)),
)

Kind = TypeVar("Kind", bound=Entry)


def context(session: Session | None = None, width: int = 80, **other: Any) -> DrawContext:
    """Return a context with a palette in which every colour is different."""
    return DrawContext(width, session or Session(cwd=CWD), palette=PALETTE, cwd=CWD, **other)


def strips(body: Body) -> list[Strip]:
    """Return all lines of a body."""
    return [body.line(number) for number in range(body.height)]


def lines(body: Body) -> list[str]:
    """Return the lines of a body as text, without trailing spaces."""
    return [strip.text.rstrip() for strip in strips(body)]


def colour_of(strip: Strip, text: str) -> tuple[str | None, str | None]:
    """Return foreground and background of a piece of text in a line."""
    at = strip.text.index(text)
    style = strip.crop(at, at + len(text))._segments[0].style
    assert style is not None
    return tuple(colour.name if colour else None for colour in (style.color, style.bgcolor))  # type: ignore[return-value]


def call(session: Session | None = None, **fields: Any) -> ToolCall:
    """Add a tool call to the session."""
    session = session or Session(cwd=CWD)
    given = fields.get("raw_input")
    fields = {"command": read_command(given), "input_paths": read_paths(given), **fields}
    tool_call = ToolCall(id=len(session.entries), at=100.0, call_id=str(len(session.entries)), **fields)
    session.entries.append(tool_call)
    session.tool_calls[tool_call.call_id] = tool_call
    for item in tool_call.content:
        if isinstance(item, TerminalRef):
            session.terminal_calls[item.terminal_id] = tool_call
    return tool_call


def terminal(session: Session, output: str = "", **fields: Any) -> Terminal:
    """Add a terminal to the session."""
    fields.setdefault("terminal_id", "t")
    terminal_entry = Terminal(id=len(session.entries), at=100.0, **fields)
    terminal_entry.output.append(output)
    session.entries.append(terminal_entry)
    session.terminals[terminal_entry.terminal_id] = terminal_entry
    return terminal_entry

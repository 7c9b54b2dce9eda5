"""The entry kind for terminals: commands with their output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.blocks import Block, SectionBlock, TerminalBlock
from acp_tui.entry_kinds.plain_text import last_output_lines
from acp_tui.entry_labels import terminal_command
from acp_tui.session.safe_text import escape_line, strip_controls
from acp_tui.session.state import Session, Terminal, TerminalRef, ToolCall

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext


def call_of(terminal: Terminal, session: Session) -> ToolCall | None:
    """Return the last tool call whose content contained a terminal with this id; None if there is none."""
    return session.terminal_calls.get(terminal.terminal_id)


def is_shown_by_call(terminal: Terminal, session: Session) -> bool:
    """Return True if the content of the call from `call_of` still contains this terminal."""
    call = call_of(terminal, session)
    return (
        call is not None
        and session.terminals.get(terminal.terminal_id) is terminal
        and any(
            isinstance(item, TerminalRef) and item.terminal_id == terminal.terminal_id
            for item in call.content
        )
    )


def code(terminal: Terminal) -> list[str]:
    return [terminal.command] if terminal.command else []


# --------------------------------------------------------------------------- texts


def blocks(terminal: Terminal, context: TextContext) -> Iterable[Block]:
    """Return the command with its output; no blocks if a tool call shows the terminal."""
    if is_shown_by_call(terminal, context.session):
        return []
    title = "Your command" if terminal.owner == "user" else ""
    return [SectionBlock(title, [terminal_part(terminal, context.cwd)])]


def terminal_part(terminal: Terminal, cwd: str) -> TerminalBlock:
    """Return the command with its whole output."""
    command = escape_line(terminal_command(terminal, cwd))
    title = f"$ {command}" if command else f"terminal {escape_line(terminal.terminal_id)}"
    return TerminalBlock(terminal.output, title, how_it_ended(terminal))


def how_it_ended(terminal: Terminal) -> str:
    """Return how the command ended, or that it is still running."""
    if terminal.signal:
        return f"ended by {escape_line(terminal.signal)}"
    if terminal.exit_code is not None:
        return f"exit code {terminal.exit_code}"
    return "still running" if terminal.ended_at is None else "ended"


def plain_text(terminal: Terminal, context: TextContext) -> Iterable[str]:
    return [] if is_shown_by_call(terminal, context.session) else terminal_lines(terminal, context)


def terminal_lines(terminal: Terminal, context: TextContext) -> Iterator[str]:
    """Yield the command and its folder, the last lines of the output, and how the command ended, if known."""
    command = terminal_command(terminal, context.cwd)
    first = f"$ {command}" if command else f"[terminal {terminal.terminal_id}]"
    yield first + (f"  (in {terminal.cwd})" if terminal.cwd else "")
    yield from last_output_lines(terminal.output)
    if terminal.signal or terminal.exit_code is not None:
        yield f"[{how_it_ended(terminal)}]"


def search_text(terminal: Terminal, session: Session) -> Iterable[str]:
    return [] if is_shown_by_call(terminal, session) else output_text(terminal)


def output_text(terminal: Terminal) -> Iterator[str]:
    """Yield the command and its output."""
    yield terminal.command or ""
    yield strip_controls(f"{terminal.output.head}{terminal.output.tail}")

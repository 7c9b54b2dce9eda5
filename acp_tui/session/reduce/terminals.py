"""Terminals: ours, and those that the agent runs itself and tells of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import add_entry, out_of_phase, touch
from acp_tui.session.state import Terminal
from acp_tui.session.text import TerminalText

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session, TerminalOwner


def terminal_created(session: Session, event: ev.TerminalCreated, at: float) -> list[Change]:
    """A terminal appears. Agents repeat this of their own; a finished one of ours has left its id free.

    A quick command may have ended before the agent was told of its terminal: that is known without a command.
    """
    known = session.terminals.get(event.terminal_id)
    over = known is not None and (known.released or known.ended_at is not None)
    if known is not None and not (event.owner == "client" and over and known.command is not None):
        known.owner = event.owner
        known.command = event.command or known.command
        known.cwd = event.cwd or known.cwd
        name_command(session, known)
        return [touch(known)]
    terminal, changes = _new(session, event.terminal_id, event.owner, at)
    terminal.command = event.command
    terminal.cwd = event.cwd
    name_command(session, terminal)
    return changes


def name_command(session: Session, terminal: Terminal) -> None:
    """Agents tell of a terminal of their own without its command: it is that of the call that shows it."""
    call = session.terminal_calls.get(terminal.terminal_id)
    if call is not None and terminal.owner == "agent" and not terminal.command:
        terminal.command = call.command


def terminal_output(session: Session, event: ev.TerminalOutput, at: float) -> list[Change]:
    """Output arrives; only its head and its end are kept."""
    terminal, changes = _terminal(session, event.terminal_id, at)
    if event.replace:
        terminal.output = TerminalText()
    if event.skipped > 0:
        terminal.output.skip(event.skipped)
    terminal.output.append(event.text)
    return [*changes, touch(terminal)]


def terminal_exited(session: Session, event: ev.TerminalExited, at: float) -> list[Change]:
    """The command ended."""
    terminal, changes = _terminal(session, event.terminal_id, at)
    terminal.exit_code = event.exit_code
    terminal.signal = event.signal
    terminal.ended_at = at
    return [*changes, touch(terminal)]


def terminal_released(session: Session, event: ev.TerminalReleased, _at: float) -> list[Change]:
    """The agent is done with it; its text stays."""
    terminal = session.terminals.get(event.terminal_id)
    if terminal is None:
        return []
    terminal.released = True
    return [touch(terminal)]


def end_agents_terminals(session: Session, at: float) -> list[Change]:
    """The agent is gone, and what it ran with it."""
    changes: list[Change] = []
    for terminal in session.terminals.values():
        if terminal.owner == "agent" and terminal.ended_at is None:
            terminal.ended_at = at
            changes.append(touch(terminal))
    return changes


def _terminal(session: Session, terminal_id: str, at: float) -> tuple[Terminal, list[Change]]:
    """The terminal of that id; output may come before it was announced."""
    known = session.terminals.get(terminal_id)
    return (known, []) if known is not None else _new(session, terminal_id, "client", at)


def _new(
    session: Session, terminal_id: str, owner: TerminalOwner, at: float
) -> tuple[Terminal, list[Change]]:
    stray = owner != "user" and out_of_phase(session)  # the user may run something at any time
    terminal = Terminal(id=0, at=at, terminal_id=terminal_id, owner=owner, stray=stray)
    session.terminals[terminal_id] = terminal
    return terminal, add_entry(session, terminal, at)

"""Terminals: those that acp-tui runs, and those that the agent runs itself and reports to acp-tui."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import add_entry, out_of_phase, touch
from acp_tui.session.state import Session, Terminal, TerminalOwner, TerminalRef, ToolCall
from acp_tui.session.terminal_text import TerminalText

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.record import Change


MAX_COMPARED_CALLS = 50
"""With more open calls than this, a new terminal is not compared with their commands."""


def terminal_created(session: Session, event: ev.TerminalCreated, at: float) -> list[Change]:
    """Add a terminal, or update the existing terminal with the event's id.

    A terminal is updated if the agent reports its own terminal again, or if the output or exit of a quick
    command arrived before this event. But if acp-tui reports a terminal with the id of a terminal that has
    ended and has a command, the id has been reused, and a new terminal is added.
    """
    known = session.terminals.get(event.terminal_id)
    has_ended = known is not None and (known.released or known.ended_at is not None)
    if known is not None and not (event.owner == "client" and has_ended and known.command is not None):
        known.owner = event.owner
        known.command = known.command if event.command is None else event.command or None
        known.cwd = known.cwd if event.cwd is None else event.cwd or None
        set_agent_command(session, known)
        return [touch(known), *_link_to_call(session, known)]
    terminal, changes = _add_terminal(session, event.terminal_id, event.owner, at)
    terminal.command = event.command
    terminal.cwd = event.cwd
    set_agent_command(session, terminal)
    return [*changes, *_link_to_call(session, terminal)]


def _link_to_call(session: Session, terminal: Terminal) -> list[Change]:
    """Show a terminal of acp-tui in the running call with the same command, if there is exactly one.

    fast-agent does not name the terminal in its calls, so that each command would be shown twice.
    """
    open_calls = session.reducer_state.open_calls
    if terminal.owner != "client" or not terminal.command or terminal.terminal_id in session.terminal_calls:
        return []
    if len(open_calls) > MAX_COMPARED_CALLS:
        return []
    words = _words(terminal.command)
    calls = [
        call
        for call in open_calls.values()
        if call.kind == "execute"
        and call.turn == session.turn
        and not any(isinstance(item, TerminalRef) for item in call.content)
        and _words(_command_of(call)) == words
    ]
    if len(calls) != 1:
        return []
    call = calls[0]
    call.content = [*call.content, TerminalRef(terminal.terminal_id, inferred=True)]
    session.terminal_calls[terminal.terminal_id] = call
    return [touch(terminal), touch(call)]


def _command_of(call: ToolCall) -> str:
    """Return the command of a call with the arguments that are given separately."""
    args = call.raw_input.get("args") if isinstance(call.raw_input, dict) else None
    words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    return " ".join([call.command or "", *map(shlex.quote, words)])


def _words(line: str) -> list[str]:
    """Return the words of a command line; for `sh -c LINE`, those of LINE."""
    try:
        words = shlex.split(line)
        is_shell = len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc")
        return shlex.split(words[2]) if is_shell else words
    except ValueError:
        return [line]


def set_agent_command(session: Session, terminal: Terminal) -> None:
    """Give an agent's own terminal the tool call's command, unless the agent reported a command."""
    call = session.terminal_calls.get(terminal.terminal_id)
    if call is not None and terminal.owner == "agent" and not terminal.command:
        terminal.command = call.command


def terminal_output(session: Session, event: ev.TerminalOutput, at: float) -> list[Change]:
    terminal, changes = _terminal(session, event.terminal_id, at)
    if event.skipped > 0:
        terminal.output.skip(event.skipped)
    terminal.output.append(event.text)
    return [*changes, touch(terminal)]


def terminal_exited(session: Session, event: ev.TerminalExited, at: float) -> list[Change]:
    terminal, changes = _terminal(session, event.terminal_id, at)
    terminal.exit_code = event.exit_code
    terminal.signal = event.signal
    terminal.ended_at = at
    return [*changes, touch(terminal)]


def terminal_cleared(session: Session, event: ev.TerminalCleared, at: float) -> list[Change]:
    """Forget the output of one of the agent's own terminals, or how its command ended."""
    terminal, changes = _terminal(session, event.terminal_id, at)
    if event.exit_only:
        terminal.exit_code = terminal.signal = terminal.ended_at = None
    else:
        terminal.output = TerminalText()
    return [*changes, touch(terminal)]


def terminal_control_changed(session: Session, event: ev.TerminalControlChanged, at: float) -> list[Change]:
    terminal, changes = _terminal(session, event.terminal_id, at)
    terminal.can_cancel = event.can_cancel
    return [*changes, touch(terminal)]


def terminal_released(session: Session, event: ev.TerminalReleased, _at: float) -> list[Change]:
    terminal = session.terminals.get(event.terminal_id)
    if terminal is None:
        return []
    terminal.released = True
    return [touch(terminal)]


def end_agent_terminals(session: Session, at: float) -> list[Change]:
    """End the agent's own terminals, because the agent has exited."""
    changes: list[Change] = []
    for terminal in session.terminals.values():
        if terminal.owner == "agent" and terminal.ended_at is None:
            terminal.ended_at = at
            changes.append(touch(terminal))
    return changes


def _terminal(session: Session, terminal_id: str, at: float) -> tuple[Terminal, list[Change]]:
    """Return the terminal `terminal_id`, and a list of changes. If the id is unknown, add a terminal."""
    known = session.terminals.get(terminal_id)
    return (known, []) if known is not None else _add_terminal(session, terminal_id, "client", at)


def _add_terminal(
    session: Session, terminal_id: str, owner: TerminalOwner, at: float
) -> tuple[Terminal, list[Change]]:
    stray = owner != "user" and out_of_phase(session)  # users may run commands at any time
    terminal = Terminal(id=0, at=at, terminal_id=terminal_id, owner=owner, stray=stray)
    session.terminals[terminal_id] = terminal
    return terminal, add_entry(session, terminal, at)

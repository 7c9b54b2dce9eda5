"""Hands the terminal to another program for a while, such as an editor or an agent's sign-in."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

HANGUP_GRACE_SECONDS = 2.0
"""When acp-tui ends: seconds to wait after SIGHUP before a program that is still running is killed."""


class _Program:
    """A program that uses the terminal, or is being started."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self.started = asyncio.Event()
        self.returned = asyncio.Event()
        """Set once `run_program` has returned."""


_programs: list[_Program] = []  # at most one, because there is one terminal


@contextmanager
def release_terminal(app: App[Any]) -> Iterator[None]:
    """Release the terminal during the block. Nothing is drawn meanwhile, but the conversations continue."""
    failure: Exception | None = None
    with app.batch_update(), app.suspend():
        settings = _terminal_settings()
        try:
            yield
        except Exception as error:  # `app.suspend` would not resume after an exception
            failure = error
        finally:
            _restore_settings(settings)
    if failure is not None:
        raise failure


def _terminal_settings() -> list[Any] | None:
    with suppress(termios.error, OSError, ValueError):
        return termios.tcgetattr(sys.__stdin__)  # type: ignore[arg-type]  # None is a ValueError
    return None


def _restore_settings(settings: list[Any] | None) -> None:
    """Restore the terminal settings, because a killed program may have left them changed."""
    if settings is not None:
        with suppress(termios.error, OSError):
            termios.tcsetattr(sys.__stdin__, termios.TCSANOW, settings)  # type: ignore[arg-type]  # as above


async def run_program(
    command: list[str], environment: Mapping[str, str] | None = None, *, cwd: str | None = None
) -> int:
    """Run a program on the terminal, which the caller must have released, and return the exit code.

    Ctrl+C and Ctrl+\\ only affect the program: they do not end acp-tui.
    """
    program = _Program()
    _programs.append(program)
    try:
        with _keyboard_signals(_ignore_signal):
            program.process = await asyncio.create_subprocess_exec(*command, env=environment, cwd=cwd)
            program.started.set()
            with _keyboard_signals(signal.SIG_IGN):
                return await program.process.wait()
    finally:
        program.started.set()
        program.returned.set()
        has_ended = program.process is None or program.process.returncode is not None
        if has_ended:  # else this task was cancelled, and `end_programs` ends the program
            _programs.remove(program)


async def end_programs() -> None:
    """End the programs that `run_program` started: send SIGHUP and, if that is not enough, SIGKILL."""
    for program in _programs.copy():
        await program.started.wait()
        if (process := program.process) is None:
            continue
        _signal(process, signal.SIGHUP)
        _signal(process, signal.SIGCONT)  # a stopped program would not handle SIGHUP
        try:
            await asyncio.wait_for(process.wait(), HANGUP_GRACE_SECONDS)
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            await process.wait()
        await program.returned.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process.

    Asyncio's own method is not used: it can reap the process, so that `wait` gets no exit code.
    """
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)


@contextmanager
def _keyboard_signals(handler: Callable[..., object] | signal.Handlers) -> Iterator[None]:
    """Handle SIGINT and SIGQUIT with `handler` during the block.

    On Ctrl+C and Ctrl+\\ the terminal sends these signals to the running program and to acp-tui, too.
    """
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _ignore_signal(*_: object) -> None:
    """Do nothing when a signal arrives. Unlike SIG_IGN, a handler is not inherited by child processes."""

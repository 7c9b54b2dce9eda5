"""The terminal in other hands for a while: an editor's, or the sign-in's of an agent."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from textual.app import App

HANGUP_GRACE_SECONDS = 2.0
"""Seconds that a program has to leave the terminal when we end."""


class _Program:
    """One that has the terminal, or is being started."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self.started = asyncio.Event()
        self.left = asyncio.Event()
        """Whoever wanted it has gone on."""


_programs: list[_Program] = []  # there is one terminal, so at most one


@contextmanager
def release_terminal(app: App[Any]) -> Iterator[None]:
    """The terminal is free. Nothing is painted meanwhile, but the conversation goes on."""
    failure: Exception | None = None
    with app.batch_update(), app.suspend():
        settings = _terminal_settings()
        try:
            yield
        except Exception as error:  # Textual would not come back after one
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
    """As it was: a program that was killed leaves its own."""
    if settings is not None:
        with suppress(termios.error, OSError):
            termios.tcsetattr(sys.__stdin__, termios.TCSANOW, settings)  # type: ignore[arg-type]  # as above


async def run_program(command: list[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a program on the terminal, which must be free meanwhile; its exit code.

    The signals of the keyboard are handled from before it starts.
    """
    program = _Program()
    _programs.append(program)
    try:
        with _keyboard_signals(_ignore_signal):
            program.process = await asyncio.create_subprocess_exec(*command, env=environment)
            program.started.set()
            with _keyboard_signals(signal.SIG_IGN):
                return await program.process.wait()
    finally:
        program.started.set()
        program.left.set()
        gone = program.process is None or program.process.returncode is not None
        if gone:  # else nobody waits for it any more, and it is ended with us
            _programs.remove(program)


async def end_programs() -> None:
    """Whoever has the terminal is told that it goes away, as by the terminal itself."""
    for program in _programs.copy():
        await program.started.wait()
        if (process := program.process) is None:
            continue
        _signal(process, signal.SIGHUP)
        _signal(process, signal.SIGCONT)  # it may be asleep
        try:
            await asyncio.wait_for(process.wait(), HANGUP_GRACE_SECONDS)
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            await process.wait()
        await program.left.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Asyncio would look first whether it has ended, and take the exit code from who waits for it."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)


@contextmanager
def _keyboard_signals(handler: Callable[..., object] | signal.Handlers) -> Iterator[None]:
    """Ctrl+C and Ctrl+\\ are the program's; the terminal sends them to all who are in the foreground."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _ignore_signal(*_: object) -> None:
    """Handles a signal. Unlike one that is ignored, a child does not inherit it."""

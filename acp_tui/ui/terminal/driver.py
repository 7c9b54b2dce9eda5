"""The terminal that acp-tui is drawn on, which may be put to sleep, stand still, or be gone.

Textual's own driver takes it to be always there: its writing thread dies with the terminal's window, and then
everything waits that wants to draw; a byte that is no UTF-8 ends its reading; a SIGCONT that comes while
nothing sleeps starts everything a second time. What is pasted is `typed`'s.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from acp_tui.ui.terminal import screen_gate
from acp_tui.ui.terminal.paste_parser import PasteParser

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from textual.app import App

    from acp_tui.ui.app import AcpTui

screen_gate.install()  # with the driver: nothing is drawn without one

READ_BYTES = 4096
POLL_SECONDS = 0.1
"""Seconds between two looks whether the reading is to end."""
WAKE_SECONDS = 0.2
"""Seconds to hear why we were woken, when it was not to draw: what was sent along comes on its own way."""
STALL_SECONDS = 1.0
"""Seconds without a byte taken after which a terminal stands still."""


class TerminalWriter:
    """What the writing thread writes to. A terminal that takes nothing more is told once, and no failure."""

    def __init__(self, file: TextIO, gone: Callable[[], None]) -> None:
        self.hurried = False
        """Is there no time for a terminal that stands still?"""
        self._gone = gone
        self._closed = False
        self._encoding, self._errors = file.encoding, file.errors or "strict"
        self._descriptor = _nonblocking(file.fileno())
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        """Keep it until the next flush: a frame comes in several pieces."""
        self._pieces.append(text)

    def flush(self) -> None:
        """Write what was kept."""
        rest = memoryview("".join(self._pieces).encode(self._encoding, self._errors))
        self._pieces.clear()
        while rest and not self._closed:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                self._wait()
            except OSError:
                self._closed = True
                self._gone()

    def _wait(self) -> None:
        writable = select.select([], [self._descriptor], [], STALL_SECONDS)[1]
        if not writable and self.hurried:
            self._closed = True


class TerminalDriver(LinuxDriver):
    """Textual's driver, for a terminal that has a life of its own."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._outlet = TerminalWriter(_screen_file(), self._lost)
        self._file = self._outlet  # type: ignore[assignment]  # it is only written to and flushed

    def hurry(self) -> None:
        """The end must not wait for the terminal. To be called from anywhere, also amid a signal."""
        self._outlet.hurried = True

    def _lost(self) -> None:
        """The terminal is gone. The signal that says so may have been sent to others only."""
        self._later(cast("AcpTui", self._app).end, signal.SIGHUP)

    def _later(self, call: Callable[..., object], *arguments: object) -> None:
        """From a thread, or amid a signal: in turn."""
        with suppress(RuntimeError):  # there are no turns any more
            self._loop.call_soon_threadsafe(call, *arguments)

    # ------------------------------------------------------------------------- what is written

    def write(self, data: str) -> None:
        """Write it, unless the terminal is in other hands: titles and bells come all the time."""
        if self._writer_thread is not None:
            self._writer_thread.write(data)

    def disable_input(self) -> None:
        """Not where the terminal is somebody else's: a job in the background that touches it is stopped."""
        if self._writer_thread is not None:
            super().disable_input()

    def stop_application_mode(self) -> None:
        """Give the terminal back, if it is ours."""
        if self._writer_thread is not None:
            super().stop_application_mode()

    def close(self) -> None:
        """Write what is left; from now on the terminal is somebody else's."""
        super().close()
        self._writer_thread = None

    # ------------------------------------------------------------------------- what is read

    def _run_input_thread(self) -> None:
        """Read until the end. Without this an error would stop the reading, and nothing could be typed."""
        while not self.exit_event.is_set():
            try:
                self.run_input_thread()
            except Exception as error:
                self._later(self._app._handle_exception, error)
                self.exit_event.wait(POLL_SECONDS)
            else:
                return

    def run_input_thread(self) -> None:
        """Hand on what is typed until that is not wanted any more."""
        typed = PasteParser(XTermParser(self._debug))
        decode = getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], POLL_SECONDS)[0]:
                data = self._read()
                if data is None:
                    self._lost()
                    return
                if text := decode(data):  # not the first half of a character only
                    for event in typed.feed(text):
                        self.process_message(event)
            for event in typed.tick():
                self.process_message(event)

    def _read(self) -> bytes | None:
        """What was typed; None: the terminal is gone."""
        try:
            if data := os.read(self.fileno, READ_BYTES):
                return data
            termios.tcgetattr(self.fileno)  # Ctrl+D gives nothing, too, where somebody has set lines back
        except (OSError, termios.error):
            return None
        return b""

    # ------------------------------------------------------------------------- sleep

    def _sigtstp_application(self, *_: object) -> None:
        self._later(self._sleep)

    def _sigcont_application(self, *_: object) -> None:
        self._later(self._wake)

    def _sleep(self) -> None:
        """Stop as any program does: where nobody could wake us again, the system does not let us."""
        if self._auto_restart:  # else another program has the terminal
            self.suspend_application_mode()
        numbers = (signal.SIGTSTP, signal.SIGCONT)
        handlers = [signal.signal(number, signal.SIG_DFL) for number in numbers]
        signal.raise_signal(signal.SIGTSTP)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        self._wake()

    def _wake(self) -> None:
        """Draw again, where we may, and not just to end."""
        if self._outlet.hurried or not self._auto_restart:  # … or it is another program that draws
            return
        if not self._in_foreground():
            self._loop.call_later(WAKE_SECONDS, self._sleep_on)
            return
        if self._writer_thread is not None:  # stopped unasked; meanwhile others used the terminal
            self.suspend_application_mode()
        self._must_signal_resume = True
        self.resume_application_mode()

    def _sleep_on(self) -> None:
        """In the background nothing can be drawn; we are stopped as if we had tried."""
        if self._outlet.hurried:
            return
        if not self._in_foreground():
            signal.raise_signal(signal.SIGTTOU)
        elif self._writer_thread is None:  # fetched meanwhile, of which a job that runs is not told
            self._wake()

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:  # a terminal without jobs
            return True


def _screen_file() -> TextIO:
    """Where to draw: not into a file that somebody collects errors in."""
    streams = [stream for stream in (sys.__stderr__, sys.__stdout__) if stream is not None]
    return next((stream for stream in streams if stream.isatty()), streams[-1])


def _nonblocking(descriptor: int) -> int:
    """The same terminal, opened anew: what is set for it here does not hold for others who have it."""
    try:
        name = os.ttyname(descriptor)
        return os.open(name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return descriptor

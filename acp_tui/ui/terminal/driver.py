"""Textual's driver, made safe for terminals that close, block, or are used by other programs for a while.

Problems of Textual's own driver that are solved here (Textual 8.2.8):

- Its writer thread ends with an error when the terminal closes. From then on, whatever draws waits forever.
- Its input thread ends at a byte that is not UTF-8.
- It starts application mode a second time if a SIGCONT arrives while nothing is suspended.
- It interprets escape sequences in pasted text, and treats some replies of the terminal as typed keys.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

from textual import constants, events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from acp_tui.ui.terminal.error_containment import report_error
from acp_tui.ui.terminal.passthrough import BackgroundReply, TerminalModes, is_dark

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

    from acp_tui.ui.terminal.frame_diff import FrameDiff


_NAMES = ("enter", *ascii_lowercase, *digits)
_AltKey = StrEnum("_AltKey", {name: f"alt+{name}" for name in _NAMES})  # type: ignore[misc]  # not a literal
_SHIFT_SEQUENCES = (
    *(f"\x1b[1;2{final}" for final in "PQRS"),
    *(f"\x1b[{number};2~" for number in (15, 17, 18, 19, 20, 21, 23, 24)),
)
"""What xterm sends for Shift with F1 to F12. Textual reads them as F13 to F24."""
_ShiftKey = StrEnum("_ShiftKey", {f"f{number}": f"shift+f{number}" for number in range(1, 13)})  # type: ignore[misc]


def register_extra_keys() -> None:
    """Make Textual recognise Alt+Enter, Alt with letters and digits, and Shift with function keys.

    For a key with Alt, terminals without the Kitty keyboard protocol send Escape followed by a character.
    Textual reads Alt+Enter as Enter, which would send the prompt. For Alt+S it types "s" into the prompt, and
    for Alt with a digit it types the character that this key combination has on macOS keyboards.
    """
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS["\x1b\r"] = ANSI_SEQUENCES_KEYS["\x1b\n"] = (_AltKey["enter"],)
        for letter in ascii_lowercase:
            ANSI_SEQUENCES_KEYS.setdefault(f"\x1b{letter}", (_AltKey[letter],))
        for digit in digits:
            ANSI_SEQUENCES_KEYS[f"\x1b{digit}"] = (_AltKey[digit],)
        for number, sequence in enumerate(_SHIFT_SEQUENCES, 1):
            ANSI_SEQUENCES_KEYS[sequence] = (_ShiftKey[f"f{number}"],)


BEGIN, END = "\x1b[200~", "\x1b[201~"
MAX_PARTIAL_MARKER = len(BEGIN) - 1
"""The maximum number of characters at the end of a chunk that can be the beginning of a paste marker."""


class InputParser(Protocol):
    """Turns the characters that a terminal sends into events."""

    def feed(self, data: str) -> Iterable[Message]:
        """Yield the events in the next chunk of input."""

    def tick(self) -> Iterable[Message]:
        """Yield events that are due without new input, because some time has passed."""


class PasteParser:
    """Turns a paste into one event, and passes all other input to another parser."""

    def __init__(self, parser: InputParser) -> None:
        self._parser = parser
        self._tail = ""  # the last characters passed to the parser
        self._pasted: list[str] | None = None  # None outside of a paste

    def feed(self, text: str) -> Iterator[Message]:
        """Yield the events in the next chunk of input. A chunk may begin and end anywhere."""
        while text:
            text = yield from (self._keys(text) if self._pasted is None else self._paste(text, self._pasted))

    def tick(self) -> Iterable[Message]:
        """Yield events that are due without new input: Escape is a key if nothing follows it soon."""
        return self._parser.tick()

    def _keys(self, text: str) -> Generator[Message, None, str]:
        """Yield the events up to the marker that begins a paste, and return the text after that marker."""
        joined = self._tail + text
        begin = joined.find(BEGIN)
        end = len(text) if begin < 0 else begin + len(BEGIN) - len(self._tail)
        yield from self._parser.feed(text[:end])
        self._tail = joined[-MAX_PARTIAL_MARKER:]
        if begin >= 0:
            self._tail, self._pasted = "", []
        return text[end:]

    def _paste(self, text: str, pasted: list[str]) -> Generator[Message, None, str]:
        """Yield the paste as an event once the end marker has arrived, and return the text after it."""
        before = "".join(pasted[-MAX_PARTIAL_MARKER:])[-MAX_PARTIAL_MARKER:]
        end = (before + text).find(END)
        if end < 0:
            pasted.append(text)
            return ""
        rest = text[end + len(END) - len(before) :]
        whole = "".join([*pasted, text])
        self._pasted = None
        for event in self._parser.feed(END):  # the parser reports an empty paste
            if isinstance(event, events.Paste):
                yield events.Paste(whole[: len(whole) - len(rest) - len(END)])
            else:
                yield event
        return rest


GARBAGE_SECONDS = 1.0
"""Seconds until an incomplete OSC reply is dropped, if it reports no background colour."""

_REPLY = re.compile(
    r"\x1b\](?P<number>\d{1,4});(?P<answer>[ -~]{0,64})(?:\x07|\x1b\\)"
    r"|\x1b\]11;(?P<open_answer>rgba?:[0-9a-fA-F]+(?:/[0-9a-fA-F]+){2,3})(?=[^0-9a-fA-F/\x07\x1b]|\x1b[^\\])"
    r"|\x1b\[\?997;(?P<scheme>[12])n"
)
"""Matches a whole reply.

If the terminator of a colour is missing, the colour ends before the first character that is not part of it.
"""
_BEGINNING = re.compile(
    r"\x1b(?:\](?:\d{0,4}|\d{1,4};[ -~]{0,64}\x1b?)|\[(?:\?(?:9(?:9(?:7(?:;[12]?)?)?)?)?)?)?\Z"
)
"""Matches the last characters of a chunk of input if they may be the beginning of a reply."""
_UNMISTAKABLE = re.compile(
    r"\x1b(?:\]\d{1,4}|\]11;(?:r|rg|rgb|rgba|rgba?:[0-9a-fA-F/]*\x1b?)?|\[\?9?9?7?;?[12]?)"
)
"""Matches the beginning of a reply if it cannot belong to a key. There is no time limit for the rest."""
_LATE_REPLY = re.compile(r"\x1b(?:\]11;rgb|\[\?997;[12]n)")
"""Matches a late reply, including its first characters, which have already been passed on as a key."""


class ReplyParser:
    """Yields a message for each reply about the background.

    Other OSC replies are dropped. Textual's parser gets the rest of the input.
    """

    def __init__(self, parser: XTermParser, clock: Callable[[], float] = time.monotonic) -> None:
        self._parser = parser
        self._clock = clock
        self._held = ""  # the beginning of a reply, or of a key
        self._held_until: float | None = None  # None: without a limit
        self._passed_key = ""  # Escape, Alt+] or Alt+[, if nothing has been passed on since

    def feed(self, data: str) -> Iterator[Message]:
        """Yield the events in the next chunk of input. A chunk may begin and end anywhere."""
        text = self._held + data
        if self._passed_key and _LATE_REPLY.match(self._passed_key + text):
            text = self._passed_key + text
        self._held = self._passed_key = ""
        while reply := _REPLY.search(text):
            yield from self._pass(text[: reply.start()])
            yield from _messages(reply)
            text = text[reply.end() :]
        if beginning := _BEGINNING.search(text):
            self._hold(beginning[0])
            text = text[: beginning.start()]
        yield from self._pass(text)

    def tick(self) -> Iterator[Message]:
        """Yield events that are due without new input, such as Escape if nothing has followed it in time."""
        if self._held and self._held_until is not None and self._clock() >= self._held_until:
            held, self._held = self._held, ""
            if ";" not in held:
                self._passed_key = held
                yield from self._parser.feed(held)
                # Textual 8.2.8: end the parser's own wait for the rest of the key.
                self._parser._timeout_time = 0.0
        yield from self._parser.tick()

    def _hold(self, beginning: str) -> None:
        self._held = beginning
        wait = GARBAGE_SECONDS if ";" in beginning else constants.ESCAPE_DELAY
        self._held_until = None if _UNMISTAKABLE.fullmatch(beginning) else self._clock() + wait

    def _pass(self, text: str) -> Iterator[Message]:
        if text:  # Textual's parser takes an empty string as the end of the input
            yield from self._parser.feed(text)


def _messages(reply: re.Match[str]) -> Iterator[BackgroundReply]:
    """Yield the background that a reply reports; nothing if the reply is garbled or about something else."""
    if scheme := reply["scheme"]:
        yield BackgroundReply(dark=scheme == "1", from_colour=False)
        return
    colour = reply["answer"] if reply["number"] == "11" else reply["open_answer"]
    if colour is not None and (dark := is_dark(colour)) is not None:
        yield BackgroundReply(dark=dark, from_colour=True)


READ_BYTES = 4096
POLL_SECONDS = 0.1
"""The interval, in seconds, at which the input thread checks whether it has to end."""
RESUME_DELAY_SECONDS = 0.2
"""Seconds to wait after SIGCONT before suspending again: a signal that ends acp-tui may follow SIGCONT."""
BLOCKED_SECONDS = 1.0
"""A terminal that accepts no output for this long is blocked, for example by Ctrl+S."""


class DrivenApp(Protocol):
    """The interface of the app for the driver."""

    terminal_modes: TerminalModes
    frame_diff: FrameDiff

    def shut_down(self, signal_number: int) -> None:
        """Exit because of the signal with this number."""


class TerminalWriter:
    """The file that Textual's writer thread writes to. Calls `on_close` when the terminal is closed."""

    def __init__(self, file: TextIO, on_close: Callable[[], None]) -> None:
        self.discards_blocked_output = False
        """Whether output that a blocked terminal does not accept is dropped. Otherwise `flush` waits."""
        self._on_close = on_close
        self._closed = False
        self._encoding, self._errors = file.encoding, file.errors or "strict"
        self._descriptor = _nonblocking(file.fileno())
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        """Buffer text until `flush` is called, so that all pieces of a frame are written together."""
        self._pieces.append(text)

    def flush(self) -> None:
        """Write the buffered text, and wait until the terminal has accepted the text.

        Drop the text if the terminal is closed, or if it is blocked and `discards_blocked_output` is set.
        """
        rest = memoryview("".join(self._pieces).encode(self._encoding, self._errors))
        self._pieces.clear()
        while rest and not self._closed:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                self._wait()
            except OSError:
                self._closed = True
                self._on_close()

    def _wait(self) -> None:
        writable = select.select([], [self._descriptor], [], BLOCKED_SECONDS)[1]
        if not writable and self.discards_blocked_output:
            self._closed = True


class TerminalDriver(LinuxDriver):
    """Textual's driver for reading from the user's terminal and drawing on it.

    It overrides private methods of `LinuxDriver` (Textual 8.2.8), which has no public hooks for input, output
    and signals. `_writer_thread` is None while another program uses the terminal.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._writer = TerminalWriter(_screen_file(), self._terminal_closed)
        self._file = self._writer  # type: ignore[assignment]  # Textual only writes to it and flushes it

    def discard_blocked_output(self) -> None:
        """From now on, drop output that the terminal does not accept. Safe to call in a signal handler."""
        self._writer.discards_blocked_output = True

    def _terminal_closed(self) -> None:
        """End the app because the terminal has been closed. The app may not have received SIGHUP."""
        self._call_in_loop(self._driven_app.shut_down, signal.SIGHUP)

    @property
    def _driven_app(self) -> DrivenApp:
        return cast("DrivenApp", self._app)

    def _call_in_loop(self, call: Callable[..., object], *arguments: object) -> None:
        """Schedule a call in the event loop. May be used in any thread and in signal handlers."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(call, *arguments)

    # ------------------------------------------------------------------------- output

    def write(self, data: str) -> None:
        """Write to the terminal. While another program uses the terminal, drop the text."""
        if self._writer_thread is not None:
            self._writer_thread.write(data)

    def start_application_mode(self) -> None:
        """Take control of the terminal, and turn on the terminal modes of the app."""
        self._driven_app.frame_diff.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write(self._driven_app.terminal_modes.all_on)
        self.flush()

    def disable_input(self) -> None:
        """Stop reading. Does nothing while another program uses the terminal.

        Textual's method calls `tcflush`, which would suspend acp-tui in that case.
        """
        if self._writer_thread is not None:
            super().disable_input()

    def stop_application_mode(self) -> None:
        """Restore the terminal, unless another program uses it."""
        if self._writer_thread is not None:
            self.write(self._driven_app.terminal_modes.all_off)
            super().stop_application_mode()

    def close(self) -> None:
        """Write the remaining output and release the terminal."""
        super().close()
        self._writer_thread = None

    # ------------------------------------------------------------------------- input

    def _run_input_thread(self) -> None:
        """Read input until the app ends. Report errors and go on reading, so that the user can still type."""
        while not self.exit_event.is_set():
            try:
                self.run_input_thread()
            except Exception as error:
                self._call_in_loop(report_error, self._app, error)
                self.exit_event.wait(POLL_SECONDS)
            else:
                return

    def run_input_thread(self) -> None:
        """Read input and pass it on as events, until the app ends or the terminal is closed."""
        register_extra_keys()
        parser = PasteParser(ReplyParser(XTermParser(self._debug)))
        decode = getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], POLL_SECONDS)[0]:
                data = self._read()
                if data is None:
                    self._terminal_closed()
                    return
                if text := decode(data):  # empty after the first bytes of a character
                    for event in parser.feed(text):
                        self.process_message(event)
            for event in parser.tick():
                self.process_message(event)

    def _read(self) -> bytes | None:
        """Return the available input, or None if the terminal has been closed."""
        try:
            if data := os.read(self.fileno, READ_BYTES):
                return data
            # No data can also mean Ctrl+D, if another program has left the terminal in line mode.
            termios.tcgetattr(self.fileno)
        except (OSError, termios.error):
            return None
        return b""

    # ------------------------------------------------------------------------- suspend and resume

    def _sigtstp_application(self, *_: object) -> None:
        self._call_in_loop(self._suspend)

    def _sigcont_application(self, *_: object) -> None:
        self._call_in_loop(self._resume)

    def _suspend(self) -> None:
        """Suspend acp-tui with SIGTSTP. The system ignores this signal if no shell could resume acp-tui."""
        if self._auto_restart:  # else another program uses the terminal
            self.suspend_application_mode()
        numbers = (signal.SIGTSTP, signal.SIGCONT)
        handlers = [signal.signal(number, signal.SIG_DFL) for number in numbers]
        signal.raise_signal(signal.SIGTSTP)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        self._resume()

    def _resume(self) -> None:
        """Take the terminal back and draw, unless the app is ending or another program uses the terminal.

        If acp-tui is a background job, only schedule `_stop_in_background`.
        """
        if self._writer.discards_blocked_output or not self._auto_restart:
            return
        if not self._in_foreground():
            self._loop.call_later(RESUME_DELAY_SECONDS, self._stop_in_background)
            return
        if self._writer_thread is not None:  # stopped without SIGTSTP: other programs used the terminal
            self.suspend_application_mode()
        self._must_signal_resume = True
        self.resume_application_mode()

    def _stop_in_background(self) -> None:
        """Suspend acp-tui again if it is still a background job, which must not draw. Otherwise resume.

        Do nothing if the app is ending.
        """
        if self._writer.discards_blocked_output:
            return
        if not self._in_foreground():
            signal.raise_signal(signal.SIGTTOU)
        elif self._writer_thread is None:  # back in the foreground: a running job gets no signal for that
            self._resume()

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:  # a terminal without job control
            return True


def _screen_file() -> TextIO:
    """Return the stream to draw on: stderr, or stdout if stderr is not a terminal."""
    streams = [stream for stream in (sys.__stderr__, sys.__stdout__) if stream is not None]
    return next((stream for stream in streams if stream.isatty()), streams[-1])


def _nonblocking(descriptor: int) -> int:
    """Open the terminal a second time, in non-blocking mode, and return the new file descriptor.

    If the terminal cannot be opened, return `descriptor`. The mode of `descriptor` is not changed, because a
    change would affect other programs.
    """
    try:
        name = os.ttyname(descriptor)
        return os.open(name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return descriptor

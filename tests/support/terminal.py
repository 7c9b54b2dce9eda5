"""Runs the installed program on a pseudo terminal and keeps every byte that it writes."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import termios
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator
from tests.support.leftovers import MARK, processes_with
from tests.support.preloaded import PreloadedProgram
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

REPOSITORY = Path(__file__).parents[2]
PROGRAM = str(Path(sys.executable).with_name("acp-tui"))
ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
"""Complete escape sequences."""
QUIT = "\x11"  # Ctrl+Q
ESC = "\x1b[27u"  # as terminals with the Kitty keyboard protocol send it: complete, whatever follows
DOWN, DELETE = "\x1b[B", "\x1b[3~"
F2, F4, SHIFT_F4 = "\x1bOQ", "\x1bOS", "\x1b[1;2S"
MODES_ON = (b"\x1b[?1049h", b"\x1b[?25l", b"\x1b[?1000h", b"\x1b[?2004h")
MODES_OFF = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
"""Alternate screen, hidden cursor, mouse reports and bracketed paste, turned on and off."""


class Terminal:
    """A terminal of 100 columns and 30 rows that runs `acp-tui`."""

    program: ClassVar[list[str]] = [PROGRAM]

    def __init__(self, *args: str, cwd: Path, **environment: str) -> None:
        self.mark = uuid.uuid4().hex
        self.raw = b""
        self._read_until = 0
        self._last_screen = ""
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (30, 100))
        self._emulator = TerminalEmulator(100, 30, styles=False)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.before = termios.tcgetattr(slave)
        self.process = self._start(
            args,
            cwd,
            slave,
            {
                **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
                "TERM": "xterm-256color",
                "PYTHONPATH": str(REPOSITORY),
                "ACP_TUI_DEMO_SPEED": "instant",
                MARK: self.mark,
                **environment,
            },
        )
        self._slave = slave  # kept open, because tests check the terminal's settings afterwards

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self._master, self._slave):
            if descriptor >= 0:
                os.close(descriptor)

    def type(self, keys: str | bytes) -> None:
        """Send keys as a terminal does."""
        os.write(self._master, keys if isinstance(keys, bytes) else keys.encode())

    def wait_for(self, *texts: str) -> None:
        """Read until all of these texts have appeared since the last call.

        The program writes only cells that differ, so a text may have appeared without being written whole.
        """
        self.until(lambda: all(map(self._is_new, texts)), " and ".join(map(repr, texts)))
        self._read_until = len(self.raw)
        self._last_screen = self.screen

    def _is_new(self, text: str) -> bool:
        return text in self.new_text() or self.screen.count(text) > self._last_screen.count(text)

    def sees(self, *texts: str) -> None:
        """Read until all of these texts are on the screen at the same time, each within one line."""
        self.until(
            lambda: all(text in self.screen for text in texts),
            f"{' and '.join(map(repr, texts))} on the screen",
        )

    def new_text(self) -> str:
        """Return what was written since the last `wait_for`, without escape sequences."""
        return ESCAPES.sub(b"", self.raw[self._read_until :]).decode(errors="replace")

    def until(self, condition: Callable[[], bool], what: str = "condition") -> None:
        """Read until the condition is true. `what` names it if it does not become true."""
        wait_until(
            condition,
            between=lambda: self._read(0.05),
            describe=lambda: f"{what}; the screen:\n{self.screen}\nthe output: {self.raw[-3000:]!r}",
        )

    def quit(self) -> int:
        """Press Ctrl+Q, a second time if a turn still runs, and return the exit code."""
        self.type(QUIT)
        self.until(lambda: self.process.poll() is not None or "still working" in self.new_text(), "the end")
        if self.process.poll() is None:
            self.type(QUIT)
        return self.ended()

    def ended(self) -> int:
        """Read until the program has ended, and return its exit code."""
        if self.hung_up:
            return self.process.wait(TIMEOUT_SECONDS)
        self.until(lambda: self.process.poll() is not None, "the end")
        while self._read(0.05):
            pass
        assert self.process.returncode is not None
        return self.process.returncode

    def stop_reading(self) -> None:
        """Stop reading until the terminal's buffer is full."""
        while select.select([], [self._slave], [], 0.5)[1]:
            pass

    def resize(self, columns: int, rows: int) -> None:
        """Resize the window."""
        termios.tcsetwinsize(self._slave, (rows, columns))
        self._emulator = TerminalEmulator(columns, rows, styles=False)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._master)
        self._master = -1

    @property
    def screen(self) -> str:
        """The text on the screen, below what was written before the program switched to its own screen."""
        return self._emulator.text()

    @property
    def hung_up(self) -> bool:
        """Whether the window is closed."""
        return self._master < 0

    @property
    def settings(self) -> list[object]:
        """The current settings of the terminal, such as echo and line mode."""
        return list(termios.tcgetattr(self._slave))

    def left_behind(self) -> list[int]:
        """Return the processes of this run that are still running."""
        return processes_with(self.mark)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        os.kill(self.process.pid, number)

    def _start(
        self, args: tuple[str, ...], cwd: Path, terminal: int, environment: dict[str, str]
    ) -> subprocess.Popen[bytes] | PreloadedProgram:
        return subprocess.Popen(
            [*self.program, *args],
            cwd=cwd,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def _read(self, timeout: float) -> bool:
        if not select.select([self._master], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # end of file on Linux
            return False
        self.raw += data
        self._emulator.feed(self._decoder.decode(data))
        return bool(data)


class PreloadedTerminal(Terminal):
    """A terminal that runs `acp-tui` forked from a process that has imported it, which starts faster."""

    def _start(
        self, args: tuple[str, ...], cwd: Path, terminal: int, environment: dict[str, str]
    ) -> PreloadedProgram:
        name = os.ttyname(terminal)
        return PreloadedProgram([*args], cwd, environment, (name, name, name), new_session=True)


class Shell(Terminal):
    """A terminal that runs an interactive shell with job control."""

    program: ClassVar[list[str]] = ["bash", "--norc", "--noprofile", "--noediting", "-i"]

    def __init__(self, *, cwd: Path, **environment: str) -> None:
        super().__init__(cwd=cwd, PS1="SHELL> ", BASH_SILENCE_DEPRECATION_WARNING="1", **environment)
        self.wait_for("SHELL> ")

    def start(self, *args: str) -> None:
        """Run acp-tui in the foreground."""
        self.type(f"{shlex.join([PROGRAM, *args])}\n")
        self.until(lambda: MODES_ON[0] in self.raw, "the screen")

    def quit(self) -> int:
        """Press Ctrl+Q, a second time if a turn still runs, and return the exit code."""
        self.type(QUIT)
        self.until(lambda: "SHELL> " in self.new_text() or "still working" in self.new_text(), "the end")
        if "SHELL> " not in self.new_text():
            self.type(QUIT)
        return self.exit_code()

    def exit_code(self) -> int:
        """Wait until the last command has ended, and return its exit code."""
        self.wait_for("SHELL> ")
        self.type("echo CODE $?.\n")
        self.until(lambda: re.search(r"CODE \d+\.", self.new_text()) is not None, "the exit code")
        return int(re.findall(r"CODE (\d+)\.", self.new_text())[-1])

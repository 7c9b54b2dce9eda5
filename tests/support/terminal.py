"""The installed program on a real terminal; every byte it writes is kept."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import termios
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from tests.support.leftovers import MARK, processes_with

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

REPOSITORY = Path(__file__).parents[2]
PROGRAM = str(Path(sys.executable).with_name("acp-tui"))
ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
"""Escape sequences, whole."""
PATIENCE = 60.0
"""Seconds after which a wait has failed."""
ON = (b"\x1b[?1049h", b"\x1b[?25l", b"\x1b[?1000h", b"\x1b[?2004h")
OFF = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
"""The other screen, the cursor, the mouse, pastes."""


class Terminal:
    """A terminal of 100 columns and 30 rows with `acp-tui` on it."""

    program: ClassVar[list[str]] = [PROGRAM]

    def __init__(self, *args: str, cwd: Path, **environment: str) -> None:
        self.mark = uuid.uuid4().hex
        self.raw = b""
        self._told = 0
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (30, 100))
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [*self.program, *args],
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={
                **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
                "TERM": "xterm-256color",
                "PYTHONPATH": str(REPOSITORY),
                "ACP_TUI_DEMO_SPEED": "instant",
                MARK: self.mark,
                **environment,
            },
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._slave = slave  # kept open: the settings of the terminal are looked at afterwards

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
        """Keys, as the terminal sends them."""
        os.write(self._master, keys if isinstance(keys, bytes) else keys.encode())

    def wait_for(self, *texts: str) -> None:
        """Read until all of these were written since the last wait."""
        self.until(lambda: all(text in self.new_text() for text in texts), " and ".join(map(repr, texts)))
        self._told = len(self.raw)

    def new_text(self) -> str:
        """What was written since the last wait, without escape sequences."""
        return ESCAPES.sub(b"", self.raw[self._told :]).decode(errors="replace")

    def until(self, condition: Callable[[], bool], what: str = "it") -> None:
        """Read until it is true."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self._read(min(0.05, max(0.0, deadline - time.monotonic())))
            late = time.monotonic() > deadline
            assert not late, f"{what} did not come; the end of what was written: {self.raw[-3000:]!r}"

    def ended(self) -> int:
        """Read until the program has ended; the exit code."""
        if self.hung_up:
            return self.process.wait(PATIENCE)
        self.until(lambda: self.process.poll() is not None, "the end")
        while self._read(0.05):
            pass
        assert self.process.returncode is not None
        return self.process.returncode

    def stand_still(self) -> None:
        """Nobody reads what is written, until there is room for nothing more."""
        while select.select([], [self._slave], [], 0.5)[1]:
            pass

    def resize(self, columns: int, rows: int) -> None:
        """The window gets another size."""
        termios.tcsetwinsize(self._slave, (rows, columns))

    def hang_up(self) -> None:
        """The terminal's window is closed."""
        os.close(self._master)
        self._master = -1

    @property
    def hung_up(self) -> bool:
        """Is the window closed?"""
        return self._master < 0

    @property
    def settings(self) -> list[object]:
        """Of the terminal, now: echo, lines, signals."""
        return list(termios.tcgetattr(self._slave))

    def left_behind(self) -> list[int]:
        """Processes of this run that still live."""
        return processes_with(self.mark)

    def signal(self, number: signal.Signals) -> None:
        """Send one to the program."""
        os.kill(self.process.pid, number)

    def _read(self, patience: float) -> bool:
        if not select.select([self._master], [], [], patience)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # on Linux, the end
            return False
        self.raw += data
        return bool(data)


class Shell(Terminal):
    """A terminal with a shell on it: with jobs, as people have them."""

    program: ClassVar[list[str]] = ["bash", "--norc", "--noprofile", "--noediting", "-i"]

    def __init__(self, *, cwd: Path, **environment: str) -> None:
        super().__init__(cwd=cwd, PS1="SHELL> ", BASH_SILENCE_DEPRECATION_WARNING="1", **environment)
        self.wait_for("SHELL> ")

    def start(self, *args: str) -> None:
        """Run acp-tui in the foreground."""
        self.type(f"{shlex.join([PROGRAM, *args])}\n")
        self.until(lambda: ON[0] in self.raw, "the screen")

    def code(self) -> int:
        """The exit code of what was run last, when it has ended."""
        self.wait_for("SHELL> ")
        self.type("echo CODE $?.\n")
        self.until(lambda: re.search(r"CODE \d+\.", self.new_text()) is not None, "the exit code")
        return int(re.findall(r"CODE (\d+)\.", self.new_text())[-1])

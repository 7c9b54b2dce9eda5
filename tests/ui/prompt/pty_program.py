"""A program with a prompt on a real terminal, and the class that drives it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.ui.prompt.prompt_app import PromptApp

if TYPE_CHECKING:
    from acp_tui.ui.prompt import Prompt

_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>])")


class Program:
    """Runs a program on a pseudoterminal of 80x24."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._master, self._slave = pty.openpty()
        termios.tcsetwinsize(self._slave, (24, 80))
        self._process = subprocess.Popen(
            command,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env={**os.environ, "TERM": "xterm-256color", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(self._slave)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, text: str) -> None:
        """Send keys as a terminal does."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read until the text was shown this many times since the last call."""
        while _ESCAPES.sub(b"", self._seen).count(text.encode()) < times:
            assert self._read(), f"the program ended before {text!r}; it showed {self._seen[-2000:]!r}"
        self._seen = b""

    def wait_for_exit(self) -> int:
        """Read until the program ends; return its exit code."""
        while self._read():
            pass
        return self._process.wait()

    def _read(self) -> bool:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # raised on Linux when the last writer has closed the terminal
            data = b""
        self._seen += data
        return bool(data)


class OnePromptApp(PromptApp):
    """Writes the first prompt to a file and exits."""

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:  # type: ignore[override]
        Path(sys.argv[1]).write_text(event.text, encoding="utf-8")
        self.exit()


if __name__ == "__main__":
    OnePromptApp().run()

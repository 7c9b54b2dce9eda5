"""Ends process groups when acp-tui is gone: the side of it that runs in acp-tui."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import threading
from pathlib import Path

WATCHER = Path(__file__).with_name("watcher.py")
MARK = "ACP_TUI_OWNER"


def watcher_command(control: int, *program: str) -> list[str]:
    """How the watcher is started: without site packages or user settings, so quickly and small."""
    return [sys.executable, "-I", "-S", str(WATCHER), str(control), *program]


class ReaperClosedError(RuntimeError):
    """Something was to be watched after `Reaper.close`."""


class Reaper:
    """Watches over process groups that acp-tui starts itself, such as git.

    The watcher is started with the first group. Give `environment` to every process, so that on Linux
    also one that left its group and session is found.
    """

    def __init__(self) -> None:
        self._token = secrets.token_hex(8)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self._lock = threading.Lock()  # git runs in threads

    @property
    def environment(self) -> dict[str, str]:
        """What a process carries so that it is recognised as ours; inherited by its children."""
        return {MARK: self._token}

    def register(self, pgid: int) -> None:
        """From now on this group (and the session of that number) does not outlive us."""
        self._tell(f"watch {pgid}")

    def unregister(self, pgid: int) -> None:
        """The group is gone; its number may be used by others now."""
        with contextlib.suppress(ReaperClosedError):
            if self._control is not None:
                self._tell(f"forget {pgid}")

    def close(self) -> None:
        """End all that is registered and all that carries our mark; returns when it is done."""
        with self._lock:
            self._closed = True
            if self._control is not None:
                self._control.close()
                self._control = None
        if self._process is not None:
            self._process.wait()
            self._process = None

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._closed:
                raise ReaperClosedError("the reaper is closed")
            control = self._control or self._start()
            with contextlib.suppress(
                OSError
            ):  # the watcher was killed: then nobody watches, but work goes on
                control.sendall(line.encode() + b"\n")

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                watcher_command(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
                env={**os.environ},
            )
        self._control = ours
        ours.sendall(f"mark {MARK}={self._token}\n".encode())
        return ours

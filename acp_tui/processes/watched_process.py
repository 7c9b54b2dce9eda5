"""A program on a terminal under a watcher of its own, which ends what the program left behind."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
from typing import TYPE_CHECKING

from acp_tui.processes.reaper import watcher_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WATCHER_SECONDS = 6.0
"""Seconds after which the watcher must have ended everything (it asks, and then forces)."""


class WatchedProcess:
    """A running program whose descendants do not outlive acp-tui, not even when acp-tui gets SIGKILL.

    On Linux that includes daemons that left group, session and environment: the watcher is a subreaper.
    Elsewhere only the program's process group is ended. What the program leaves behind when it ends lives
    on until `close`.
    """

    def __init__(
        self,
        watcher: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        control: asyncio.StreamWriter,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.pid = 0
        """Also the number of the program's process group and session."""
        self.returncode: int | None = None
        """The exit code, or the negative number of a signal; None while the program runs."""
        self._watcher = watcher
        self._control = control
        self._started: asyncio.Future[int] = loop.create_future()
        self._ended = asyncio.Event()
        self._reports = asyncio.create_task(self._follow(reader))

    @classmethod
    async def start(
        cls, path: str, args: Sequence[str], *, terminal: int, cwd: str, env: Mapping[str, str]
    ) -> WatchedProcess:
        """Start a program with a terminal as its three streams; return when it runs.

        `cwd` may be a path below /proc/self/fd. Raises `OSError`, `ValueError`.
        """
        environment = _environment_block(env)
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                watcher = await asyncio.create_subprocess_exec(
                    *watcher_command(theirs.fileno(), "--terminal", path, path, *args),
                    stdin=terminal,
                    stdout=terminal,
                    stderr=terminal,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    cwd=cwd,
                )
            reader, control = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()  # a watcher that has already started ends
            raise
        process = cls(watcher, reader, control)
        control.write(environment)
        try:
            process.pid = await asyncio.shield(process._started)
        except BaseException:
            await process.close()
            raise
        return process

    async def wait(self) -> int:
        """Wait for the end of the program itself; return `returncode`."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def call_when_alone(self, callback: Callable[[], None]) -> None:
        """Call back once nothing is left of the program and what it started."""
        self._reports.add_done_callback(lambda _: callback())

    async def close(self) -> None:
        """End the program and everything it left behind; return when that is done."""
        if not self._reports.done():
            with contextlib.suppress(OSError):
                self._control.write_eof()
            done, _ = await asyncio.wait([self._reports], timeout=WATCHER_SECONDS)
            if not done:
                with contextlib.suppress(ProcessLookupError):
                    self._watcher.kill()
        await self._reports

    async def _follow(self, reader: asyncio.StreamReader) -> None:
        """Take the watcher's reports until it has ended."""
        try:
            while line := await reader.readline():
                word, _, number = line.decode().strip().partition(" ")
                if word == "started":
                    self.pid = int(number)
                    self._started.set_result(self.pid)
                elif word == "failed":
                    self._started.set_exception(OSError(int(number), os.strerror(int(number))))
                elif word in ("exit", "signal"):
                    self._end(int(number) if word == "exit" else -int(number))
        except ConnectionError:
            pass
        finally:
            if not self._started.done():
                self._started.set_exception(OSError(errno.ECHILD, "its watcher was ended"))
            if self.pid and self.returncode is None:  # the watcher was killed: nobody else would end it
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
                self._end(-signal.SIGKILL)
            self._control.close()
        await self._watcher.wait()

    def _end(self, returncode: int) -> None:
        self.returncode = returncode
        self._ended.set()


def _environment_block(env: Mapping[str, str]) -> bytes:
    """Return the environment as the watcher reads it: each entry and the whole ended by a NUL."""
    entries = [os.fsencode(f"{name}={value}") for name, value in env.items()]
    if any(b"\0" in entry for entry in entries):
        raise ValueError("embedded null byte")
    return b"\0".join(entries) + b"\0\0"

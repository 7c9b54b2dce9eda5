"""Runs a program on a pseudoterminal under a watcher, which ends the program's descendants."""

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

WATCHER_TIMEOUT_SECONDS = 6.0
"""Seconds that the watcher may take to end all processes (SIGTERM, then SIGKILL) before it is killed."""


class WatchedProcess:
    """A running program whose descendants do not outlive acp-tui, not even when acp-tui gets SIGKILL.

    On Linux, the descendants include daemons that left the process group and the session, because the
    watcher is a subreaper. Elsewhere only the program's process group is ended. Background processes that
    outlive the program are ended by `close`.
    """

    def __init__(
        self,
        watcher: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        control: asyncio.StreamWriter,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.pid = 0
        """The id of the program's process, and of its process group and session; 0 before it runs."""
        self.returncode: int | None = None
        """The exit code, or the negated signal number; None while the program runs."""
        self._watcher = watcher
        self._control = control
        self._started: asyncio.Future[int] = loop.create_future()
        self._ended = asyncio.Event()
        self._reports_task = asyncio.create_task(self._read_reports(reader))

    @classmethod
    async def start(
        cls, path: str, args: Sequence[str], *, terminal: int, cwd: str, env: Mapping[str, str]
    ) -> WatchedProcess:
        """Start a program and return once it runs.

        `terminal` is the file descriptor for the program's stdin, stdout and stderr; `cwd` can be a path
        below /proc/self/fd. Raises `OSError`, or `ValueError` for a NUL in an argument or in the environment.
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
            ours.close()  # ends the watcher, if it has started
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
        """Wait until the program itself has ended, and return `returncode`."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def call_when_all_ended(self, callback: Callable[[], None]) -> None:
        """Call `callback` once the program and all descendants that the watcher follows have ended."""
        self._reports_task.add_done_callback(lambda _: callback())

    async def close(self) -> None:
        """End the program and its descendants; return when they are gone."""
        if not self._reports_task.done():
            with contextlib.suppress(OSError):
                self._control.write_eof()
            done, _ = await asyncio.wait([self._reports_task], timeout=WATCHER_TIMEOUT_SECONDS)
            if not done:
                with contextlib.suppress(ProcessLookupError):
                    self._watcher.kill()
        await self._reports_task

    async def _read_reports(self, reader: asyncio.StreamReader) -> None:
        """Handle the watcher's reports until the watcher has ended."""
        try:
            while line := await reader.readline():
                word, _, number = line.decode().strip().partition(" ")
                if word == "started":
                    self.pid = int(number)
                    self._started.set_result(self.pid)
                elif word == "failed":
                    self._started.set_exception(OSError(int(number), os.strerror(int(number))))
                elif word in ("exit", "signal"):
                    self._set_returncode(int(number) if word == "exit" else -int(number))
        except ConnectionError:
            pass
        finally:
            if not self._started.done():
                self._started.set_exception(OSError(errno.ECHILD, "the watcher process was killed"))
            if self.pid and self.returncode is None:  # the watcher was killed; end the program here
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
                self._set_returncode(-signal.SIGKILL)
            self._control.close()
        await self._watcher.wait()

    def _set_returncode(self, returncode: int) -> None:
        self.returncode = returncode
        self._ended.set()


def _environment_block(env: Mapping[str, str]) -> bytes:
    """Return the environment in the watcher's format: a NUL after each entry, and another NUL at the end."""
    entries = [os.fsencode(f"{name}={value}") for name, value in env.items()]
    if any(b"\0" in entry for entry in entries):
        raise ValueError("embedded null byte")
    return b"\0".join(entries) + b"\0\0"

"""Registers process groups and temporary folders with a watcher process, which ends and deletes them when
acp-tui is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

WATCHER_SCRIPT = Path(__file__).with_name("watcher.py")
OWNER_VARIABLE = "ACP_TUI_OWNER"
"""Environment variable that marks processes started by this run of acp-tui."""
FOLDER_NAME_BYTES = 6
"""The number of random bytes in the name of a temporary folder, so that no name is used twice."""
WATCHER_TIMEOUT_SECONDS = 6.0
"""Seconds that the watcher may take to end all processes (SIGTERM, then SIGKILL) before it is killed."""


def watcher_command(control: int, *program: str) -> list[str]:
    """Return the command line of a watcher. `-I -S` skips site packages, which saves time and memory."""
    return [sys.executable, "-I", "-S", str(WATCHER_SCRIPT), str(control), *program]


class ReaperClosedError(RuntimeError):
    """Raised when a group is registered, or a folder is created, after `Reaper.close`."""


class Reaper:
    """Ends process groups that acp-tui starts directly, such as git, when acp-tui ends, even if by SIGKILL.

    Its temporary folders are deleted then, too. The watcher process is started when it is first needed. Pass
    `environment` to every child process: on Linux the watcher uses these variables to find processes that
    left their group and session.
    """

    def __init__(self) -> None:
        self._token = secrets.token_hex(8)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self._lock = threading.Lock()  # git runs in threads

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which the watcher recognises child processes, and the children of these processes."""
        return {OWNER_VARIABLE: self._token}

    def register(self, pgid: int) -> None:
        """Have the watcher end this group and, on Linux, the session with that id when acp-tui ends."""
        self._send(f"watch {pgid}")

    def unregister(self, pgid: int) -> None:
        """Stop watching a group that has ended: the system can reuse the group's id."""
        with contextlib.suppress(ReaperClosedError):
            if self._control is not None:
                self._send(f"forget {pgid}")

    def create_folder(self, parent: str | None = None) -> Path:
        """Create a folder that only the user can enter, and that is deleted when acp-tui ends.

        It is created in `parent`, by default the system's temporary directory. Raises `OSError`.
        """
        folder = Path(parent or tempfile.gettempdir(), f"acp-tui-{secrets.token_hex(FOLDER_NAME_BYTES)}")
        # First, so that the folder is deleted whenever acp-tui is killed. No folder has this name yet.
        self._send(f"scratch {os.fsencode(folder).hex()}")
        try:
            folder.mkdir(mode=0o700)
        except OSError:
            self._send(f"discard {os.fsencode(folder).hex()}")
            raise
        return folder

    def delete_folder(self, folder: Path) -> None:
        """Delete a folder that `create_folder` has created, with its content. Errors are ignored."""
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(ReaperClosedError):
            self._send(f"discard {os.fsencode(folder).hex()}")

    def close(self) -> None:
        """End all registered groups and, on Linux, all processes that `environment` marks.

        Then delete the temporary folders. If nothing has ever been registered, there is no watcher, and
        nothing is ended. Return when the watcher has ended.
        """
        with self._lock:
            self._closed = True
            if self._control is not None:
                self._control.close()
                self._control = None
        if self._process is not None:
            self._process.wait()
            self._process = None

    def _send(self, line: str) -> None:
        with self._lock:
            if self._closed:
                raise ReaperClosedError("the reaper is closed")
            control = self._control or self._start()
            with contextlib.suppress(OSError):  # the watcher was killed; keep working without it
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
        ours.sendall(f"mark {OWNER_VARIABLE}={self._token}\n".encode())
        return ours


async def start_watcher(
    *program: str, **options: Any
) -> tuple[asyncio.subprocess.Process, asyncio.StreamReader, asyncio.StreamWriter]:
    """Start a watcher that starts a program. Return the watcher, its reports, and what keeps it watching.

    `options` are those of `asyncio.create_subprocess_exec`. Raises `OSError` and `ValueError`.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            watcher = await asyncio.create_subprocess_exec(
                *watcher_command(theirs.fileno(), *program),
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # so that Ctrl+C in our terminal does not reach the program
                **options,
            )
        reader, control = await asyncio.open_connection(sock=ours)
    except BaseException:
        ours.close()  # ends the watcher, if it has started
        raise
    return watcher, reader, control


async def read_reports(
    reader: asyncio.StreamReader, started: asyncio.Future[int], on_exit: Callable[[int], None]
) -> None:
    """Read a watcher's reports until it ends: first the program's process id or the `OSError` of its start.

    `on_exit` is called with the exit code or the negated signal number.
    """
    with contextlib.suppress(ConnectionError):
        while line := await reader.readline():
            word, _, number = line.decode().strip().partition(" ")
            if word == "started":
                started.set_result(int(number))
            elif word == "failed":
                started.set_exception(OSError(int(number), os.strerror(int(number))))
            elif word in ("exit", "signal"):
                on_exit(int(number) if word == "exit" else -int(number))


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
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        watcher, reader, control = await start_watcher("--terminal", path, path, *args, **streams, cwd=cwd)
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
            await read_reports(reader, self._started, self._set_returncode)
        finally:
            if not self._started.done():
                self._started.set_exception(OSError(errno.ECHILD, "the watcher process was killed"))
            elif self._started.exception() is None:
                self.pid = self._started.result()
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

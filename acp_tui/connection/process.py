"""The agent's process: start, streams, exit, and shutdown together with all its child processes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import shutil
import signal
import socket
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.connection.agent_exit import AgentExit
from acp_tui.connection.errors import CannotStart
from acp_tui.processes.reaper import watcher_command
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.agents.launch import Launch

READ_BYTES = 1 << 18
"""Bytes per read; a pipe rarely holds more."""
MAX_STDERR_LINES = 200
MAX_STDERR_LINE_BYTES = 2000
EXIT_GRACE_SECONDS = 1.5
"""Seconds an agent has to exit after its stdin was closed, before it gets SIGTERM."""
LAST_OUTPUT_SECONDS = 3.0
"""Seconds to wait for the rest of an exited agent's output: another process may hold its pipes open."""
WATCHER_SECONDS = 6.0
"""Seconds the watcher has to end all processes, with SIGTERM and then SIGKILL."""


log = logging.getLogger(__name__)


class LineRing:
    """A ring buffer of the last lines of a stream, limited in number and width."""

    def __init__(self, lines: int = MAX_STDERR_LINES, width: int = MAX_STDERR_LINE_BYTES) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._width = width
        self._incomplete = b""

    def add(self, block: bytes) -> None:
        """Append a block of the stream."""
        *ended, last = block.split(b"\n")
        for line in ended:
            self._lines.append((self._incomplete + line)[: self._width])
            self._incomplete = b""
        self._incomplete = (self._incomplete + last)[: self._width]

    def tail(self, count: int = MAX_STDERR_LINES) -> list[str]:
        """Return the last non-empty lines, safe to display."""
        lines = (
            visible_line(line.decode("utf-8", "replace").rstrip())
            for line in (*self._lines, self._incomplete)
        )
        return [line for line in lines if line][-count:]


class AgentProcess:
    """One running agent process, created by `spawn`. A watcher process ends it if acp-tui dies."""

    def __init__(
        self,
        watcher: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        control: asyncio.StreamWriter,
        on_stderr: Callable[[bytes], None] | None,
    ) -> None:
        self._watcher = watcher
        self._control = control
        self._on_stderr = on_stderr
        self._ring = LineRing()
        self._started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._ended = asyncio.Event()
        self._status: tuple[int | None, str | None] = (None, None)
        self._reason: str | None = None
        self._closing = False
        self._watcher_killed = False  # by us: it did not end the agent in time
        self.pid = 0
        """The process id of the agent, which is also the id of its process group and session."""
        self._stderr_task = asyncio.create_task(self._drain_stderr())
        self._status_task = asyncio.create_task(self._read_status(reader))

    # ----------------------------------------------------------------- start

    @classmethod
    async def spawn(
        cls, launch: Launch, cwd: str, *, on_stderr: Callable[[bytes], None] | None = None
    ) -> AgentProcess:
        """Start the agent in `cwd` and return when its program runs. Raises `CannotStart`.

        `on_stderr` is called with each unmodified block that the agent writes to stderr.
        """
        env = {**os.environ, **launch.env}
        program = _find_program(launch, cwd, env)
        starting = asyncio.create_task(cls._spawn_watcher(launch, program, cwd, env, on_stderr))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:  # let the start finish, so that the process can be ended
            with contextlib.suppress(CannotStart):
                await (await starting).close(grace_seconds=0)
            raise
        try:
            process.pid = await asyncio.shield(process._started)  # shielded: the watcher reports in any case
        except OSError as error:
            await process.close()
            raise _exec_error(launch, program, error) from None
        except BaseException:
            await process.close(grace_seconds=0)
            raise
        return process

    @classmethod
    async def _spawn_watcher(
        cls,
        launch: Launch,
        program: str,
        cwd: str,
        env: dict[str, str],
        on_stderr: Callable[[bytes], None] | None,
    ) -> AgentProcess:
        """Start the watcher, which then starts the agent."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                watcher = await asyncio.create_subprocess_exec(
                    *watcher_command(theirs.fileno(), program, *launch.command),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # so that Ctrl+C in our terminal does not reach the agent
                    limit=4 * READ_BYTES,
                    cwd=cwd,
                    env=env,
                )
            reader, control = await asyncio.open_connection(sock=ours)
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError | ValueError):  # e.g. arguments too long, or with a NUL
                why = getattr(error, "strerror", None) or error
                raise _cannot_start(launch, f"{why}.") from error
            raise
        return cls(watcher, reader, control, on_stderr)

    # ----------------------------------------------------------------- streams

    async def read(self) -> bytes:
        """Return the next block of stdout; empty at the end."""
        assert self._watcher.stdout is not None
        return await self._watcher.stdout.read(READ_BYTES)

    @property
    def writable(self) -> bool:
        """True while stdin is open and the agent runs."""
        stdin = self._watcher.stdin
        return stdin is not None and not stdin.is_closing() and not self._ended.is_set()

    def write(self, data: bytes) -> None:
        """Write to stdin without waiting."""
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(data)

    async def drain(self) -> None:
        """Wait while the pipe to stdin is full."""
        assert self._watcher.stdin is not None
        await self._watcher.stdin.drain()

    def stderr_tail(self, count: int = MAX_STDERR_LINES) -> list[str]:
        """Return the last lines of stderr, safe to display."""
        return self._ring.tail(count)

    async def _drain_stderr(self) -> None:
        stderr = self._watcher.stderr
        assert stderr is not None
        while block := await stderr.read(READ_BYTES):
            self._ring.add(block)
            if self._on_stderr is not None:
                try:
                    self._on_stderr(block)
                except Exception:  # keep reading: an agent blocks when its stderr pipe is full
                    log.exception("Storing the agent's stderr failed")

    # ----------------------------------------------------------------- exit

    @property
    def exit(self) -> AgentExit | None:
        """The exit of the process; None while it runs."""
        if not self._ended.is_set():
            return None
        code, name = self._status
        return AgentExit(code, name, self.stderr_tail(), self._closing and self._reason is None, self._reason)

    async def wait(self) -> AgentExit:
        """Wait for the exit and for the rest of stderr."""
        await self._ended.wait()
        await asyncio.wait([self._stderr_task], timeout=LAST_OUTPUT_SECONDS)
        ended = self.exit
        assert ended is not None
        return ended

    async def _read_status(self, reader: asyncio.StreamReader) -> None:
        """Read the watcher's reports: started or failed, then exit code or signal."""
        try:
            while line := await reader.readline():
                word, _, number = line.decode().strip().partition(" ")
                if word == "started":
                    self._started.set_result(int(number))
                elif word == "failed":
                    self._started.set_exception(OSError(int(number), os.strerror(int(number))))
                elif word == "exit":
                    self._set_exit(int(number), None)
                elif word == "signal":
                    self._set_exit(None, _signal_name(int(number)))
        except ConnectionError:
            pass
        finally:
            if not self._started.done():
                self._started.set_exception(OSError(errno.ECHILD, "its watcher process was killed"))
            if not self._ended.is_set():  # the watcher was killed, so the agent has to be ended here
                self._kill_group()
                if self._watcher_killed:
                    self._set_exit(None, "SIGKILL")
                else:
                    self._reason = self._reason or "was ended because its watcher process was killed"
                    self._set_exit(None, None)

    def _set_exit(self, code: int | None, name: str | None) -> None:
        self._status = (code, name)
        self._ended.set()
        stdout = self._watcher.stdout
        if stdout is not None:
            asyncio.get_running_loop().call_later(LAST_OUTPUT_SECONDS, stdout.feed_eof)

    def _kill_group(self) -> None:
        if self.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    async def close(
        self, *, reason: str | None = None, grace_seconds: float = EXIT_GRACE_SECONDS
    ) -> AgentExit:
        """End the agent and all processes it started: close stdin, then SIGTERM, then SIGKILL.

        `reason` describes the fault that made this necessary, if any. It is stored in `AgentExit.reason`.
        """
        if not self._ended.is_set() and not self._closing:
            self._closing = True
            self._reason = reason
        if self._watcher.stdin is not None:
            self._watcher.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), grace_seconds)
        with contextlib.suppress(OSError):
            self._control.write_eof()
        done, _ = await asyncio.wait([self._status_task], timeout=WATCHER_SECONDS)
        if not done:
            self._watcher_killed = True
            self._kill_group()
            with contextlib.suppress(ProcessLookupError):
                self._watcher.kill()
        await self._watcher.wait()
        await self._status_task
        self._control.close()
        ended = await self.wait()
        self._stderr_task.cancel()  # still runs if an unrelated process holds the pipe
        return ended


def _find_program(launch: Launch, cwd: str, env: dict[str, str]) -> str:
    """Return the path of the program. Raises `CannotStart` if it cannot be executed."""
    name = launch.command[0]
    if not Path(cwd).is_dir():
        raise _cannot_start(launch, f"the directory {visible_line(cwd)} does not exist.")
    if os.sep not in name:
        if found := shutil.which(name, path=env.get("PATH", os.defpath)):
            return str(Path(found).absolute())
        raise _cannot_start(launch, f"{name} was not found in PATH.{_install_hint(launch)}")
    path = Path(cwd, Path(name).expanduser())
    if path.is_dir():
        raise _cannot_start(launch, f"{path} is a directory.")
    if not path.exists():
        raise _cannot_start(launch, f"{path} does not exist.{_install_hint(launch)}")
    if not os.access(path, os.X_OK):
        raise _cannot_start(launch, f"{path} is not executable (try chmod +x).")
    return str(path)


def _cannot_start(launch: Launch, reason: str) -> CannotStart:
    return CannotStart(f"{launch.title} cannot be started: {reason}")


def _exec_error(launch: Launch, program: str, error: OSError) -> CannotStart:
    why = {
        errno.ENOENT: "the interpreter in its #! line does not exist",
        errno.ENOEXEC: "neither a binary for this machine nor a script with a #! line",
    }.get(error.errno or 0, error.strerror or "unknown reason")
    return _cannot_start(launch, f"{program}: {why}.{_install_hint(launch)}")


def _install_hint(launch: Launch) -> str:
    return f" Install it with: {launch.install_hint}" if launch.install_hint else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

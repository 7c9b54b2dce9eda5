"""The agent's process: started with all it needs, heard on both its outputs, ended with all it started."""

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
"""Bytes read at once; a pipe rarely holds more."""
STDERR_LINES = 200
STDERR_LINE_BYTES = 2000
EXIT_GRACE_SECONDS = 1.5
"""Seconds an agent has to leave by itself after its input was closed."""
LAST_OUTPUT_SECONDS = 3.0
"""Seconds that output of a dead agent is awaited: somebody else may hold its pipe for ever."""
WATCHER_SECONDS = 6.0
"""Seconds after which the watcher must have ended everything (it asks, and then forces)."""


log = logging.getLogger(__name__)


class LineRing:
    """The last lines of a stream, bounded in number and width however much flows through."""

    def __init__(self, lines: int = STDERR_LINES, width: int = STDERR_LINE_BYTES) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._width = width
        self._open = b""

    def add(self, block: bytes) -> None:
        """More of the stream."""
        *ended, last = block.split(b"\n")
        for line in ended:
            self._lines.append((self._open + line)[: self._width])
            self._open = b""
        self._open = (self._open + last)[: self._width]

    def tail(self, count: int = STDERR_LINES) -> list[str]:
        """The last lines, safe to display; empty ones left out."""
        lines = (
            visible_line(line.decode("utf-8", "replace").rstrip()) for line in (*self._lines, self._open)
        )
        return [line for line in lines if line][-count:]


class AgentProcess:
    """One running agent. Made by `spawn`."""

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
        """Also the number of its process group and session."""
        self._stderr_task = asyncio.create_task(self._drain_stderr())
        self._status_task = asyncio.create_task(self._follow(reader))

    # ----------------------------------------------------------------- start

    @classmethod
    async def spawn(
        cls, launch: Launch, cwd: str, *, on_stderr: Callable[[bytes], None] | None = None
    ) -> AgentProcess:
        """Start the agent in `cwd`; returns when it runs.

        Raises `CannotStart` with what to do about it. `on_stderr` gets what it writes to stderr, as it is.
        """
        env = {**os.environ, **launch.env}
        program = _find_program(launch, cwd, env)
        starting = asyncio.create_task(cls._watched(launch, program, cwd, env, on_stderr))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:  # what was half started would be nobody's: it is started, and ended
            with contextlib.suppress(CannotStart):
                await (await starting).close(patience=0)
            raise
        try:
            process.pid = await asyncio.shield(process._started)  # it is told also when nobody waits
        except OSError as error:
            await process.close()
            raise CannotStart(_exec_failure(launch, program, error)) from None
        except BaseException:
            await process.close(patience=0)
            raise
        return process

    @classmethod
    async def _watched(
        cls,
        launch: Launch,
        program: str,
        cwd: str,
        env: dict[str, str],
        on_stderr: Callable[[bytes], None] | None,
    ) -> AgentProcess:
        """Its watcher runs, and is about to start it."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                watcher = await asyncio.create_subprocess_exec(
                    *watcher_command(theirs.fileno(), program, *launch.command),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # a Ctrl+C in our terminal is not meant for the agent
                    limit=4 * READ_BYTES,
                    cwd=cwd,
                    env=env,
                )
            reader, control = await asyncio.open_connection(sock=ours)
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError | ValueError):  # arguments too long, or with a NUL in one, …
                why = getattr(error, "strerror", None) or error
                raise CannotStart(f"{launch.title} cannot be started: {why}.") from error
            raise
        return cls(watcher, reader, control, on_stderr)

    # ----------------------------------------------------------------- its streams

    async def read(self) -> bytes:
        """The next piece of its output; empty at the end."""
        assert self._watcher.stdout is not None
        return await self._watcher.stdout.read(READ_BYTES)

    @property
    def writable(self) -> bool:
        """False when its input is closed, by either side, or nobody is there to read it."""
        stdin = self._watcher.stdin
        return stdin is not None and not stdin.is_closing() and not self._ended.is_set()

    def write(self, data: bytes) -> None:
        """Put into its input; in order, without waiting."""
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(data)

    async def drain(self) -> None:
        """Wait until the agent has read most of what was written."""
        assert self._watcher.stdin is not None
        await self._watcher.stdin.drain()

    def stderr_tail(self, count: int = STDERR_LINES) -> list[str]:
        """The last lines it wrote to stderr, safe to display."""
        return self._ring.tail(count)

    async def _drain_stderr(self) -> None:
        stderr = self._watcher.stderr
        assert stderr is not None
        while block := await stderr.read(READ_BYTES):
            self._ring.add(block)
            if self._on_stderr is not None:
                try:
                    self._on_stderr(block)
                except Exception:  # an agent whose stderr is not read stops at some point
                    log.exception("stderr of the agent could not be kept")

    # ----------------------------------------------------------------- its end

    @property
    def exit(self) -> AgentExit | None:
        """How it ended; None while it runs."""
        if not self._ended.is_set():
            return None
        code, name = self._status
        return AgentExit(code, name, self.stderr_tail(), self._closing and self._reason is None, self._reason)

    async def wait(self) -> AgentExit:
        """Wait for its end, and for the last it has to say on stderr."""
        await self._ended.wait()
        await asyncio.wait([self._stderr_task], timeout=LAST_OUTPUT_SECONDS)
        ended = self.exit
        assert ended is not None
        return ended

    async def _follow(self, reader: asyncio.StreamReader) -> None:
        """What the watcher reports: the start, and the end."""
        try:
            while line := await reader.readline():
                word, _, number = line.decode().strip().partition(" ")
                if word == "started":
                    self._started.set_result(int(number))
                elif word == "failed":
                    self._started.set_exception(OSError(int(number), os.strerror(int(number))))
                elif word == "exit":
                    self._end(int(number), None)
                elif word == "signal":
                    self._end(None, _signal_name(int(number)))
        except ConnectionError:
            pass
        finally:
            if not self._started.done():
                self._started.set_exception(OSError(errno.ECHILD, "its watcher was ended"))
            if not self._ended.is_set():  # somebody ended the watcher: nobody else would end the agent
                self._kill_group()
                if self._watcher_killed:
                    self._end(None, "SIGKILL")
                else:
                    self._reason = self._reason or "lost the process that watches over it"
                    self._end(None, None)

    def _end(self, code: int | None, name: str | None) -> None:
        self._status = (code, name)
        self._ended.set()
        stdout = self._watcher.stdout
        if stdout is not None:
            asyncio.get_running_loop().call_later(LAST_OUTPUT_SECONDS, stdout.feed_eof)

    def _kill_group(self) -> None:
        if self.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    async def close(self, *, reason: str | None = None, patience: float = EXIT_GRACE_SECONDS) -> AgentExit:
        """End it and everything it started: its input closes, then SIGTERM, then SIGKILL.

        `reason` continues a sentence that begins with its title, when it is ended for a fault.
        """
        if not self._ended.is_set() and not self._closing:
            self._closing = True
            self._reason = reason
        if self._watcher.stdin is not None:
            self._watcher.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), patience)
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
        self._stderr_task.cancel()  # only where somebody we cannot end still holds it
        return ended


def _find_program(launch: Launch, cwd: str, env: dict[str, str]) -> str:
    """The file to execute; a sentence for a person when there is none."""
    name = launch.command[0]
    if not Path(cwd).is_dir():
        raise CannotStart(
            f"{launch.title} cannot be started in {visible_line(cwd)}: there is no such folder."
        )
    if os.sep not in name:
        if found := shutil.which(name, path=env.get("PATH", os.defpath)):
            return str(Path(found).absolute())
        raise CannotStart(
            f"{launch.title} cannot be started: there is no program “{name}” in PATH.{_hint(launch)}"
        )
    path = Path(cwd, Path(name).expanduser())
    if path.is_dir():
        raise CannotStart(f"{launch.title} cannot be started: {path} is a folder, not a program.")
    if not path.exists():
        raise CannotStart(f"{launch.title} cannot be started: {path} does not exist.{_hint(launch)}")
    if not os.access(path, os.X_OK):
        raise CannotStart(f"{launch.title} cannot be started: {path} is not executable (try chmod +x).")
    return str(path)


def _exec_failure(launch: Launch, program: str, error: OSError) -> str:
    why = {
        errno.ENOENT: "the interpreter named in its first line does not exist",
        errno.ENOEXEC: "it is neither a binary for this machine nor a script with a #! line",
    }.get(error.errno or 0, error.strerror or "unknown reason")
    return f"{launch.title} cannot be started: {program}: {why}.{_hint(launch)}"


def _hint(launch: Launch) -> str:
    return f" Install it with: {launch.install_hint}" if launch.install_hint else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

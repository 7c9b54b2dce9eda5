"""Runs a program that communicates over stdin and stdout, and ends it together with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Self

from acp_tui.processes.reaper import WATCHER_TIMEOUT_SECONDS, read_reports, start_watcher
from acp_tui.session.safe_text import escape_line

MAX_LINES = 200
KEPT_LINE_BYTES = 2000
"""The maximum number of bytes kept of each line."""
READ_BYTES = 1 << 18
"""Bytes per read; a pipe rarely holds more."""
EXIT_GRACE_SECONDS = 1.5
"""Seconds that a program may take to exit after its stdin was closed. Then it gets SIGTERM."""
LAST_OUTPUT_SECONDS = 3.0
"""Seconds to wait for the last output of an ended program, whose pipes another process may keep open."""
log = logging.getLogger(__name__)


class LineRing:
    """A ring buffer of the last lines of a stream. The number of lines and their length are limited."""

    def __init__(self, lines: int = MAX_LINES, width: int = KEPT_LINE_BYTES) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._width = width
        self._incomplete = b""
        self.count = 0
        """The number of complete lines so far, including those that are no longer in the buffer."""

    def add(self, block: bytes) -> None:
        *ended, last = block.split(b"\n")
        for line in ended:
            self._lines.append((self._incomplete + line)[: self._width])
            self._incomplete = b""
        self.count += len(ended)
        self._incomplete = (self._incomplete + last)[: self._width]

    def tail(self, count: int = MAX_LINES) -> list[str]:
        """Return the last non-empty lines, safe to display."""
        return _displayable((*self._lines, self._incomplete))[-count:]

    def since(self, count: int) -> list[str]:
        """Return the buffered non-empty lines after the stream's first `count` lines, safe to display."""
        new = min(len(self._lines), max(0, self.count - count))
        return _displayable((*islice(self._lines, len(self._lines) - new, None), self._incomplete))


def _displayable(lines: Iterable[bytes]) -> list[str]:
    texts = (escape_line(line.decode("utf-8", "replace").rstrip()) for line in lines)
    return [text for text in texts if text]


class PipedProcess:
    """One running program, created by `start`. A watcher process ends the program if acp-tui dies."""

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
        self.stderr = LineRing()
        """The last lines of stderr."""
        self._started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._ended = asyncio.Event()
        self._discards_output = False
        self._watcher_killed = False  # by us, after a timeout; also True if `end` was cancelled
        self.pid = 0
        """The id of the program's process, which is also the id of its process group and session."""
        self.returncode: int | None = None
        """The exit code or negated signal number; None before the exit, or if `watcher_lost` is true."""
        self.outlived_stdin = False
        """Whether the program was still running when its time to exit after the end of stdin was over."""
        self.watcher_lost = False
        """Whether the program was ended because its watcher process was killed by somebody else."""
        self._stderr_task = asyncio.create_task(self._drain_stderr())
        self._status_task = asyncio.create_task(self._read_status(reader))

    # ----------------------------------------------------------------- start

    @classmethod
    async def start(
        cls,
        program: str,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        on_stderr: Callable[[bytes], None] | None = None,
    ) -> Self:
        """Start a program in `cwd` and return when it runs. Raises `StartError`.

        Args:
            program: The absolute path of the program.
            command: The program's arguments, beginning with the name by which it is called.
            cwd: The folder in which the program starts.
            env: The program's whole environment.
            on_stderr: Called with each unmodified block that the program writes to stderr.
        """
        starting = asyncio.create_task(cls._start_watcher(program, command, cwd, env, on_stderr))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:  # let the start finish, so that the process can be ended
            with contextlib.suppress(OSError, ValueError):
                await (await starting).end(grace_seconds=0)
            raise
        except (OSError, ValueError) as error:  # e.g. arguments too long, or with a NUL
            raise StartError(f"{getattr(error, 'strerror', None) or error}") from error
        try:
            # Shielded, because `_read_status` sets the future even after a cancellation.
            process.pid = await asyncio.shield(process._started)
        except OSError as error:
            await process.end()
            raise ExecError(f"{program}: {_exec_error(error)}") from None
        except BaseException:
            await process.end(grace_seconds=0)
            raise
        return process

    @classmethod
    async def _start_watcher(
        cls,
        program: str,
        command: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        on_stderr: Callable[[bytes], None] | None,
    ) -> Self:
        """Start the watcher, which then starts the program."""
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
        watcher, reader, control = await start_watcher(
            program, *command, **streams, limit=4 * READ_BYTES, cwd=cwd, env=env
        )
        return cls(watcher, reader, control, on_stderr)

    # ----------------------------------------------------------------- streams

    async def read(self) -> bytes:
        """Return the next block of stdout; empty at the end, and while `end` discards the rest."""
        assert self._watcher.stdout is not None
        if self._discards_output:
            return b""
        return await self._watcher.stdout.read(READ_BYTES)

    @property
    def writable(self) -> bool:
        """True while stdin is open and the program runs."""
        stdin = self._watcher.stdin
        return stdin is not None and not stdin.is_closing() and not self.ended

    def write(self, data: bytes) -> None:
        """Write to stdin without waiting."""
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(data)

    async def drain(self) -> None:
        """Wait while the pipe to stdin is full."""
        assert self._watcher.stdin is not None
        await self._watcher.stdin.drain()

    def close_stdin(self) -> None:
        """Close stdin once everything is written."""
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()

    def stderr_tail(self, count: int = MAX_LINES) -> list[str]:
        """Return the last lines of stderr, safe to display."""
        return self.stderr.tail(count)

    async def _drain_stderr(self) -> None:
        stderr = self._watcher.stderr
        assert stderr is not None
        while block := await stderr.read(READ_BYTES):
            self.stderr.add(block)
            if self._on_stderr is not None:
                try:
                    self._on_stderr(block)
                except Exception:  # keep reading: a program blocks when its stderr pipe is full
                    log.exception("Storing a program's stderr failed")

    # ----------------------------------------------------------------- exit

    @property
    def ended(self) -> bool:
        """True once the program has ended."""
        return self._ended.is_set()

    async def wait_for_end(self) -> None:
        """Wait for the exit and for the rest of stderr."""
        await self._ended.wait()
        await asyncio.wait([self._stderr_task], timeout=LAST_OUTPUT_SECONDS)

    async def _read_status(self, reader: asyncio.StreamReader) -> None:
        """Read the watcher's reports: started or failed, then exit code or signal."""
        try:
            await read_reports(reader, self._started, self._set_ended)
        finally:
            if not self._started.done():
                self._started.set_exception(OSError(errno.ECHILD, "its watcher process was killed"))
            if not self.ended:  # the watcher was killed or `end` cancelled: end the program here
                self._kill_group()
                self.watcher_lost = not self._watcher_killed
                self._set_ended(-signal.SIGKILL if self._watcher_killed else None)

    def _set_ended(self, returncode: int | None) -> None:
        self.returncode = returncode
        self._ended.set()
        stdout = self._watcher.stdout
        if stdout is not None:
            asyncio.get_running_loop().call_later(LAST_OUTPUT_SECONDS, stdout.feed_eof)

    def _kill_group(self) -> None:
        if self.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    async def end(self, *, grace_seconds: float = EXIT_GRACE_SECONDS) -> None:
        """End the program and all processes it started: close stdin, then send SIGTERM, then SIGKILL.

        If the call is cancelled, the processes are killed at once, and the call waits only for the watcher.
        """
        try:
            await self._end(grace_seconds)
        except asyncio.CancelledError:
            self._watcher_killed = True
            self._control.close()  # the watcher then kills the program
            await self._wait_for_watcher()
            raise
        finally:
            self._control.close()
            self._stderr_task.cancel()  # still runs if an unrelated process holds the pipe

    async def _end(self, grace_seconds: float) -> None:
        if self._watcher.stdin is not None:
            self._watcher.stdin.close()
        try:
            await asyncio.wait_for(self._ended.wait(), grace_seconds)
        except TimeoutError:
            self.outlived_stdin = grace_seconds > 0
        with contextlib.suppress(OSError):
            self._control.write_eof()
        done, _ = await asyncio.wait([self._status_task], timeout=WATCHER_TIMEOUT_SECONDS)
        if not done:
            self._watcher_killed = True
            self._kill_group()
            with contextlib.suppress(ProcessLookupError):
                self._watcher.kill()
        rest = asyncio.create_task(self._discard_output())
        await self._watcher.wait()
        await self._status_task
        # asyncio closes a pipe only when everything in it has been read.
        await asyncio.gather(asyncio.wait([rest], timeout=LAST_OUTPUT_SECONDS), self.wait_for_end())
        rest.cancel()

    async def _wait_for_watcher(self) -> None:
        """Wait until the watcher has exited, for at most `WATCHER_TIMEOUT_SECONDS`.

        A cancelled `end` calls this method before it raises, because the event loop can close right after.
        """
        rest = asyncio.create_task(self._discard_output())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._watcher.wait(), WATCHER_TIMEOUT_SECONDS)
        rest.cancel()

    async def _discard_output(self) -> None:
        """Read the rest of stdout: asyncio does not report the exit while its read buffer is full."""
        stdout = self._watcher.stdout
        assert stdout is not None
        self._discards_output = True
        try:
            while await stdout.read(READ_BYTES):
                pass
        except RuntimeError:  # somebody else is waiting for output, and reads it to the end
            self._discards_output = False


class StartError(Exception):
    """A program could not be started. The message is a clause with the reason."""


class ExecError(StartError):
    """The system could not execute the program."""


def signal_name(number: int) -> str:
    """Return the name of a signal, such as "SIGTERM"."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _exec_error(error: OSError) -> str:
    return {
        errno.ENOENT: "the interpreter in its #! line does not exist",
        errno.ENOEXEC: "neither a binary for this machine nor a script with a #! line",
    }.get(error.errno or 0, error.strerror or "unknown reason")

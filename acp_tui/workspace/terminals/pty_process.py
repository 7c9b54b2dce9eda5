"""Starts a program in a new pseudoterminal, reads the program's output, and ends its process group."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from acp_tui.processes.reaper import WatchedProcess

READ_SIZE = 64 * 1024
"""The maximum number of bytes to read at once, so that the event loop is not blocked."""
MAX_BUFFERED_BYTES = 4 * READ_SIZE
"""The maximum number of bytes that the kernel is expected to buffer for a terminal."""
REOPEN_POLL_SECONDS = 0.2
"""Seconds between polls of a terminal that no process has open."""
SIGKILL_TIMEOUT_SECONDS = 5.0
"""Seconds to wait for a process after SIGKILL: it may hang in a system call."""

# A session leader without a controlling terminal gets the terminal that it opens. The new process must do
# that itself, after `setsid` and before `exec`. A shell needs a millisecond for it; a `preexec_fn` would run
# Python between fork and exec, which is not safe in a program with threads.
_ACQUIRE_TERMINAL = '{ :; } <"$0"; exec "$@"'


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a program ended: by an exit code or by a signal."""

    exit_code: int | None
    signal: str | None


class PtyProcess:
    """A running program with its own session, process group and terminal.

    `on_data` is called with the output. `on_exit` is called with the exit status, after all output of the
    program. Until `dispose` is called, output of child processes can still follow.
    """

    def __init__(
        self,
        process: WatchedProcess,
        master: int,
        *,
        on_data: Callable[[bytes], None],
        on_exit: Callable[[ExitStatus], None],
    ) -> None:
        self._process = process
        self._master = master
        self._on_data = on_data
        self._on_exit = on_exit
        self._group_is_gone = False
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(master, self._read)
        self._ended = asyncio.create_task(self._follow())

    @classmethod
    async def spawn(
        cls,
        program: str,
        args: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        size: tuple[int, int],
        on_data: Callable[[bytes], None],
        on_exit: Callable[[ExitStatus], None],
    ) -> PtyProcess:
        """Start the program whose path is `program`. `size` is columns and rows.

        Raises `OSError` or `ValueError`.
        """
        master, slave = os.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            process = await WatchedProcess.start(
                "/bin/sh",
                ["-c", _ACQUIRE_TERMINAL, os.ttyname(slave), *_unusual_variables(env), program, *args],
                terminal=slave,
                cwd=cwd,
                env=env,
            )
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(master, False)
        return cls(process, master, on_data=on_data, on_exit=on_exit)

    @property
    def group(self) -> int:
        return self._process.pid

    @property
    def gone(self) -> bool:
        """Whether the process group has ended. Another group may have got the same id since."""
        return self._group_is_gone

    async def wait(self) -> ExitStatus:
        """Wait until the program itself has ended."""
        return await asyncio.shield(self._ended)

    async def kill(self, grace: float) -> None:
        """End the process group with SIGTERM, and after `grace` seconds with SIGKILL."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a stopped process does not handle SIGTERM
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.wait(), grace)
        self._signal(signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.wait(), SIGKILL_TIMEOUT_SECONDS)

    async def end_descendants(self) -> None:
        """End the program and all processes that it started; on Linux, even daemons."""
        await self._process.close()

    def call_when_all_ended(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the program and everything that it started have ended.

        On systems other than Linux, only the processes in the program's process group count.
        """
        self._process.call_when_all_ended(callback)

    def dispose(self) -> None:
        """Close the terminal and stop reading."""
        if self._master >= 0:
            self._loop.remove_reader(self._master)
            os.close(self._master)
            self._master = -1

    # ---- inside

    async def _follow(self) -> ExitStatus:
        code = await self._process.wait()
        # Check now whether the group still exists. Later its id may have been reused by another process.
        self._signal(0)
        # Read what the program wrote, but not forever: a child process may go on writing.
        for _ in range(MAX_BUFFERED_BYTES // READ_SIZE):
            if self._master < 0 or not self._read():
                break
        status = ExitStatus(None, _signal_name(-code)) if code < 0 else ExitStatus(code, None)
        self._on_exit(status)
        return status

    def _signal(self, number: int) -> None:
        if self._group_is_gone:
            return
        try:
            os.killpg(self.group, number)
        except ProcessLookupError:
            self._group_is_gone = True
        except PermissionError:  # it changed its user id; macOS also reports this for zombies
            pass

    def _read(self) -> bool:
        """Pass available output to `on_data`, at most `READ_SIZE` bytes. Return True if there may be more."""
        blocks: list[bytes] = []
        room = READ_SIZE
        more = True
        while room > 0 and more:
            try:
                block = os.read(self._master, room)
            except BlockingIOError:
                more = False
            except OSError as error:
                if error.errno != errno.EIO:  # Linux's error when no process has the other side open
                    raise
                block = b""
            if more and not block:
                self._on_hangup()
                more = False
            elif more:
                blocks.append(block)
                room -= len(block)
        if blocks:
            self._on_data(b"".join(blocks))
        return more

    def _on_hangup(self) -> None:
        """Handle a terminal that no process has open any more.

        If the program is still running, keep the terminal. The program may have redirected its output, and
        can open the terminal again. If acp-tui closed its side of the terminal, the program would get SIGHUP.
        """
        if self._process.returncode is not None:
            self.dispose()
        else:
            self._loop.remove_reader(self._master)
            self._loop.call_later(REOPEN_POLL_SECONDS, self._resume_reading)

    def _resume_reading(self) -> None:
        if self._master >= 0:
            self._loop.add_reader(self._master, self._read)


def _unusual_variables(env: Mapping[str, str]) -> list[str]:
    """Return the words of an `env` command that sets those variables that a shell may not pass on.

    Some shells drop variables whose names are not valid in the shell, such as exported functions of bash. If
    there are no such variables, the list is empty.
    """
    dropped = [
        f"{name}={value}" for name, value in env.items() if not (name.isascii() and name.isidentifier())
    ]
    return ["/usr/bin/env", *dropped] if dropped else []


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

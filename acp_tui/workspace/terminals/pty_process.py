"""One program on a pseudo terminal of its own: started, read, ended with its whole group."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import struct
import termios
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.processes import WatchedProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

READ_SIZE = 64 * 1024
"""Bytes per read, so that the event loop is not blocked."""
MAX_BUFFERED_BYTES = 4 * READ_SIZE
"""More than the kernel buffers for a terminal."""
REOPEN_POLL_SECONDS = 0.2
"""Seconds between polls of a terminal that no process has open."""
SIGKILL_TIMEOUT_SECONDS = 5.0
"""Seconds to wait for a process after SIGKILL (it may hang in the kernel)."""

# Opening a terminal makes it the controlling one of a session leader that has none. Only a process
# itself can do that, after `setsid` and before it becomes the program. The shell does it in a
# millisecond; a `preexec_fn` would run Python between fork and exec, which is not safe beside threads.
_TAKE_TERMINAL = '{ :; } <"$0"; exec "$@"'


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a program ended: by an exit code or by a signal."""

    exit_code: int | None
    signal: str | None


class PtyProcess:
    """A running program. It has a session, a process group and a terminal of its own.

    `on_data` gets what it writes, `on_exit` its end, after all that it wrote before. What its children
    write after that still comes, until `dispose`.
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
        """Start a program, given by its path; `size` is columns and rows. Raises `OSError`, `ValueError`."""
        master, slave = os.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            process = await WatchedProcess.start(
                "/bin/sh",
                ["-c", _TAKE_TERMINAL, os.ttyname(slave), *_odd_variables(env), program, *args],
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
        """Process group id."""
        return self._process.pid

    @property
    def gone(self) -> bool:
        """Whether the process group is gone; its id may have been reused."""
        return self._group_is_gone

    async def wait(self) -> ExitStatus:
        """Wait until the program itself has ended."""
        return await asyncio.shield(self._ended)

    async def kill(self, grace: float) -> None:
        """End the process group with SIGTERM, and after `grace` seconds with SIGKILL."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a stopped process would not notice
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.wait(), grace)
        self._signal(signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.wait(), SIGKILL_TIMEOUT_SECONDS)

    async def end_descendants(self) -> None:
        """End everything that the program started, also daemons (these on Linux only)."""
        await self._process.close()

    def call_when_all_ended(self, callback: Callable[[], None]) -> None:
        """Call back once neither the program nor anything it started is left."""
        self._process.call_when_all_ended(callback)

    def dispose(self) -> None:
        """Close the terminal; nothing more is read."""
        if self._master >= 0:
            self._loop.remove_reader(self._master)
            os.close(self._master)
            self._master = -1

    # ---- inside

    async def _follow(self) -> ExitStatus:
        code = await self._process.wait()
        # Ask at once, while the number cannot have been given away: it is taken as long as the group lives.
        self._signal(0)
        # All that it wrote is there to be read, but there is no end to it when a child of it floods.
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
        except PermissionError:  # it became another user's; macOS also says so of zombies
            pass

    def _read(self) -> bool:
        """Hand on what there is, but not more than a bit; True when there may be more at once."""
        blocks: list[bytes] = []
        room = READ_SIZE
        more = True
        while room > 0 and more:
            try:
                block = os.read(self._master, room)
            except BlockingIOError:
                more = False
            except OSError as error:
                if error.errno != errno.EIO:  # what Linux says when nobody has the other side open
                    raise
                block = b""
            if more and not block:
                self._nobody_there()
                more = False
            elif more:
                blocks.append(block)
                room -= len(block)
        if blocks:
            self._on_data(b"".join(blocks))
        return more

    def _nobody_there(self) -> None:
        """No process has the terminal open. While the program lives it may open it again.

        To close our side would hang up, which ends a program that only put its output elsewhere.
        """
        if self._process.returncode is not None:
            self.dispose()
        else:
            self._loop.remove_reader(self._master)
            self._loop.call_later(REOPEN_POLL_SECONDS, self._look_again)

    def _look_again(self) -> None:
        if self._master >= 0:
            self._loop.add_reader(self._master, self._read)


def _odd_variables(env: Mapping[str, str]) -> list[str]:
    """A shell forgets variables that it could not name itself (bash's functions): hand them past it."""
    odd = [f"{name}={value}" for name, value in env.items() if not (name.isascii() and name.isidentifier())]
    return ["/usr/bin/env", *odd] if odd else []


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

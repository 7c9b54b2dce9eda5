"""The terminals of one session: commands whose output the agent can read and acp-tui shows."""

from __future__ import annotations

import asyncio
import codecs
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import Refusal
from acp_tui.session.record import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from acp_tui.workspace.files.open_folder import OpenFolder, open_folder
from acp_tui.workspace.terminals.terminal_emulator import HEIGHT, WIDTH, terminal_environment

if TYPE_CHECKING:
    from acp_tui.workspace.terminals.pty_process import ExitStatus, PtyProcess

DEFAULT_LIMIT = 1024 * 1024
"""The number of bytes of output to keep for the agent if the agent requests no limit."""
MAX_LIMIT = 16 * 1024 * 1024
"""The maximum number of bytes of output to keep, even if the agent requests a higher limit."""
KILL_GRACE_SECONDS = 1.0
"""Seconds between SIGTERM and SIGKILL."""


class Terminals:
    """Creates, reads and ends terminals for the agent or the user.

    `on_output` is called with a terminal's id and raw output (not safe to display). `on_exit` is called with
    a terminal's id, exit code and signal. Methods raise `Refusal` if they fail.
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str],
        *,
        on_output: Callable[[str, str], None],
        on_exit: Callable[[str, int | None, str | None], None],
        size: tuple[int, int] = (WIDTH, HEIGHT),
        grace: float = KILL_GRACE_SECONDS,
        taken: Iterable[str] = (),
        prefix: str = "term",
    ) -> None:
        """Create an empty collection of terminals.

        Args:
            cwd: The default working directory.
            on_output: See the class.
            on_exit: See the class.
            size: Columns and rows.
            grace: The maximum number of seconds between SIGTERM and SIGKILL.
            taken: Ids that were used in an earlier part of the session. They are not used again.
            prefix: The beginning of all ids. Must be different for each instance in a session.
        """
        self._cwd = os.fspath(cwd)
        self._on_output = on_output
        self._on_exit = on_exit
        self._size = size
        self._grace = grace
        self._terminals: dict[str, _Terminal] = {}
        self._running: set[_Terminal] = set()  # including released ones that are being ended
        self._watched: set[PtyProcess] = set()  # including ended ones that have running descendants
        self._prefix = f"{prefix}-"
        self._made = max(map(self._number, taken), default=0)
        self._closed = False

    async def create(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | OpenFolder | None = None,
        output_byte_limit: int | None = None,
        is_line: bool | None = None,
    ) -> str:
        """Start a command and return the id of its terminal.

        If `is_line` is true, `command` is a command line, which the user's shell runs. If `is_line`
        is None, the function `is_command_line` decides.
        """
        self._require_open()
        limit = DEFAULT_LIMIT if output_byte_limit is None else min(output_byte_limit, MAX_LIMIT)
        if limit < 0:
            raise Refusal(INVALID_PARAMS, f"outputByteLimit must not be negative: {limit}")
        if bad := [name for name in env or {} if not name or "=" in name]:
            raise Refusal(INVALID_PARAMS, f"invalid environment variable name {bad[0]!r}")
        environment = terminal_environment(env or {})
        with ExitStack() as stack:
            if isinstance(cwd, OpenFolder):
                opened = cwd
            else:
                opened = stack.enter_context(await asyncio.to_thread(open_folder, cwd or self._cwd))
            folder = stack.enter_context(opened.working_directory())
            if is_line is None:
                is_line = is_command_line(command, args, folder)
            program, arguments = _program(command, args, folder, environment, is_line=is_line)
            terminal = await self._start(command, program, arguments, folder, environment, limit)
        self._running.add(terminal)
        try:
            self._require_open()
        except Refusal:  # `close` was called while the program was starting
            await self._end(terminal)
            await terminal.process.end_descendants()
            raise
        process = terminal.process
        self._watched.add(process)
        process.call_when_all_ended(lambda: self._watched.discard(process))
        self._terminals[terminal.id] = terminal
        return terminal.id

    async def _start(
        self,
        command: str,
        program: str,
        arguments: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        limit: int,
    ) -> _Terminal:
        from acp_tui.workspace.terminals.pty_process import PtyProcess

        self._made += 1
        terminal = _Terminal(f"{self._prefix}{self._made}", limit, self._size, self._on_output, self._ended)
        try:
            terminal.process = await PtyProcess.spawn(
                program,
                arguments,
                cwd=folder,
                env=environment,
                size=self._size,
                on_data=terminal.take,
                on_exit=terminal.end,
            )
        except ValueError as error:  # such as a NUL in an argument
            raise Refusal(INVALID_PARAMS, f"{command!r} cannot be started: {error}") from error
        except OSError as error:
            raise Refusal(INTERNAL_ERROR, f"{command!r} cannot be started: {error.strerror}") from error
        return terminal

    def output(self, terminal_id: str) -> tuple[str, bool, ExitStatus | None]:
        """Return a terminal's text, whether the beginning is lost, and the exit status (None: running)."""
        terminal = self._find(terminal_id)
        text, truncated = terminal.output()
        return text, truncated, terminal.status

    async def wait_for_exit(self, terminal_id: str) -> ExitStatus:
        """Wait until the command itself has ended. Its child processes can still be running."""
        return await self._find(terminal_id).process.wait()

    async def kill(self, terminal_id: str) -> None:
        """End the command's process group. The command's output can still be read."""
        await self._find(terminal_id).process.kill(self._grace)

    async def release(self, terminal_id: str) -> None:
        """End the command if it is still running, and remove the terminal."""
        terminal = self._find(terminal_id)
        del self._terminals[terminal_id]
        await self._end(terminal)

    async def release_all(self) -> None:
        terminals = self._running.union(self._terminals.values())
        self._terminals.clear()
        await asyncio.gather(*map(self._end, terminals))

    async def close(self) -> None:
        """End all terminals, and on Linux also daemons started in them.

        Afterwards, no terminal can be created.
        """
        self._closed = True
        await self.release_all()
        await asyncio.gather(*(process.end_descendants() for process in list(self._watched)))

    def _require_open(self) -> None:
        if self._closed:
            raise Refusal(INTERNAL_ERROR, "the session is closed; no terminal can be started")

    def _find(self, terminal_id: str) -> _Terminal:
        if terminal := self._terminals.get(terminal_id):
            return terminal
        known = 0 < self._number(terminal_id) <= self._made
        sentence = f"the terminal {terminal_id!r} was released" if known else f"no terminal {terminal_id!r}"
        raise Refusal(RESOURCE_NOT_FOUND, sentence, {"terminalId": terminal_id})

    def _number(self, terminal_id: str) -> int:
        number = terminal_id.removeprefix(self._prefix)
        return int(number) if number.isdecimal() and len(number) < 10 else 0

    async def _end(self, terminal: _Terminal) -> None:
        await terminal.process.kill(self._grace)
        terminal.process.dispose()
        self._running.discard(terminal)

    def _ended(self, terminal: _Terminal, status: ExitStatus) -> None:
        if terminal.process.gone:
            self._running.discard(terminal)
        self._on_exit(terminal.id, status.exit_code, status.signal)


class _Terminal:
    """A terminal: its process, and the last part of its output."""

    process: PtyProcess

    def __init__(
        self,
        terminal_id: str,
        limit: int,
        size: tuple[int, int],
        on_output: Callable[[str, str], None],
        on_exit: Callable[[_Terminal, ExitStatus], None],
    ) -> None:
        from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

        self.id = terminal_id
        self.status: ExitStatus | None = None
        self._limit = limit
        self._on_output = on_output
        self._on_exit = on_exit
        # A character is at least one byte, so the emulator keeps at least `limit` bytes.
        self._emulator = TerminalEmulator(*size, head=0, tail=limit, styles=False)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._cached: tuple[int, str, bool] = (-1, "", False)

    def take(self, data: bytes) -> None:
        if text := self._decoder.decode(data):
            self._emulator.feed(text)
            self._on_output(self.id, text)

    def end(self, status: ExitStatus) -> None:
        self.status = status
        self._on_exit(self, status)

    def output(self) -> tuple[str, bool]:
        version, text, truncated = self._cached
        if version != self._emulator.version:
            text, truncated = _last_bytes(self._emulator.text(), self._limit)
            truncated = truncated or self._emulator.dropped > 0
            self._cached = (self._emulator.version, text, truncated)
        return text, truncated


def _last_bytes(text: str, limit: int) -> tuple[str, bool]:
    """Return the last whole characters that fit into `limit` bytes, and whether some were cut off."""
    data = text.encode(errors="replace")
    if len(data) <= limit:
        return text, False
    # If the cut is within a character, the rest of its bytes is invalid and ignored.
    return data[len(data) - limit :].decode(errors="ignore"), True


def is_command_line(command: str, args: Sequence[str], cwd: str) -> bool:
    """Return True if a shell must run the command, because `command` has several words and `args` is empty.

    Some agents send a path with spaces as the command. Return False for such a path if there is a program at
    the path, and the path's first word alone is not a program.
    """
    if args or len(command.split()) < 2:
        return False
    path, first = Path(cwd, command), command.split()[0]
    if "/" not in command or not _is_program(path):
        return True
    return _is_program(Path(cwd, first)) if "/" in first else shutil.which(first) is not None


def _is_program(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except ValueError:  # a NUL
        return False


def _program(
    command: str, args: Sequence[str], cwd: str, env: Mapping[str, str], *, is_line: bool
) -> tuple[str, Sequence[str]]:
    """Return the program to run and its arguments. Raises `Refusal` if there is no such executable file.

    For a command line, the program is the user's shell. A relative path is looked up in `cwd`, but returned
    unchanged.
    """
    if is_line:
        return user_shell(cwd), ["-c", command]
    if program := _find_program(command, cwd, env):
        return command if "/" in command else program, args
    path = Path(cwd, command)
    if "/" in command and path.exists():
        why = "is a directory" if path.is_dir() else "is not executable"
        raise Refusal(INVALID_PARAMS, f"{command} {why}", {"command": command})
    raise Refusal(RESOURCE_NOT_FOUND, f"the command {command!r} was not found", {"command": command})


def user_shell(cwd: str) -> str:
    """Return the path of the user's shell. A SHELL variable that the agent sets has no effect."""
    return _find_program(os.environ.get("SHELL") or "sh", cwd, os.environ) or "/bin/sh"


def _find_program(command: str, cwd: str, env: Mapping[str, str]) -> str | None:
    if "\0" in command:
        return None
    found = shutil.which(str(Path(cwd, command)) if "/" in command else command, path=env.get("PATH"))
    return str(Path(cwd, found)) if found else None

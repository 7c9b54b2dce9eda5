"""Files and commands: through the client where it offers them, otherwise by the agent itself.

By itself the agent reads and writes only inside the session's folders.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from acp import RequestError

if TYPE_CHECKING:
    from acp import Client, schema

MAX_FILE_BYTES = 10_000_000
MAX_OUTPUT_BYTES = 60_000
"""How much output of a command is kept: half of it from the beginning, half from the end."""
KILL_GRACE_SECONDS = 2
_SEARCH = Path(__file__).with_name("file_search.py")


class WorkspaceError(Exception):
    """A file or command that cannot be used. The message is a sentence for the model."""


class CommandResult(NamedTuple):
    output: str
    exit_code: int | None
    """None if the command was ended by a signal."""
    timed_out: bool


class Workspace:
    """The folders of a session, the first of which is the working directory."""

    def __init__(
        self,
        client: Client,
        session_id: str,
        folders: Sequence[Path],
        capabilities: schema.ClientCapabilities,
    ) -> None:
        self._client = client
        self._session_id = session_id
        self.folders = [Path(os.path.realpath(folder)) for folder in folders]
        self._cwd = folders[0]
        self._can_read = bool(capabilities.fs and capabilities.fs.read_text_file)
        self._can_write = bool(capabilities.fs and capabilities.fs.write_text_file)
        self._has_terminals = bool(capabilities.terminal)

    def path(self, name: str) -> Path:
        """Return the absolute path that a model means. Raises `WorkspaceError`."""
        if "\0" in name:
            raise WorkspaceError("A path cannot contain a zero byte.")
        return Path(os.path.normpath(self._cwd / Path(name).expanduser()))

    def contains(self, path: Path) -> bool:
        """Return True if a path is inside the folders, also after following links."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(folder) for folder in self.folders)

    # ------------------------------------------------------------------ files

    async def read(self, path: Path) -> str:
        """Return the text of a file, with the line ends that it has. Raises `WorkspaceError`."""
        data = self._check_kind(path)
        if self._can_read:
            try:
                answer = await self._client.read_text_file(self._session_id, str(path))
            except RequestError as error:
                raise WorkspaceError(f"{path} could not be read: {_reason(error)}.") from None
            return answer.content
        if data is None:
            raise WorkspaceError(f"{path} does not exist.")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise WorkspaceError(f"{path} is not a text in UTF-8.") from None

    def _check_kind(self, path: Path) -> bytes | None:
        """Return the content of a file, None if there is none here. Refuse folders, binary and huge files."""
        if not self._can_read:
            self._require_inside(path)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if isinstance(error, FileNotFoundError) or self._can_read:
                return None
            raise WorkspaceError(f"{path} could not be read: {error.strerror}.") from None
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise WorkspaceError(f"{path} is a folder. List it instead.")
            if not stat.S_ISREG(status.st_mode):
                raise WorkspaceError(f"{path} is not a regular file.")
            if status.st_size > MAX_FILE_BYTES:
                raise WorkspaceError(f"{path} is too large: {status.st_size:,} bytes.")
            data = file.read(MAX_FILE_BYTES)
        if b"\0" in data[:8000]:
            raise WorkspaceError(f"{path} is a binary file.")
        return data

    async def write(self, path: Path, text: str) -> None:
        """Replace a file, or create it with its folders. Raises `WorkspaceError`."""
        if self._can_write:
            try:
                await self._client.write_text_file(self._session_id, str(path), text)
            except RequestError as error:
                raise WorkspaceError(f"{path} could not be written: {_reason(error)}.") from None
            return
        self._require_inside(path)
        try:
            _replace_file(Path(os.path.realpath(path)), text)
        except OSError as error:
            raise WorkspaceError(f"{path} could not be written: {error.strerror}.") from None

    def _require_inside(self, path: Path) -> None:
        if not self.contains(path):
            raise WorkspaceError(f"{path} is outside the folders of the session.")

    async def search(self, path: Path, pattern: str | None, glob: str | None) -> str:
        """List a folder, or search its files, without what git ignores. Raises `WorkspaceError`."""
        self._require_inside(path)
        real = Path(os.path.realpath(path))
        folder, name = (real.parent, real.name) if real.is_file() else (real, "")
        prefix = "" if folder == self.folders[0] else f"{folder}/"
        if folder.is_relative_to(self.folders[0]) and folder != self.folders[0]:
            prefix = f"{folder.relative_to(self.folders[0])}/"
        request = {
            "folder": str(folder),
            "prefix": prefix,
            "name": name,
            "pattern": pattern,
            "glob": glob,
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_SEARCH)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            output, _ = await process.communicate(json.dumps(request).encode())
        finally:
            if process.returncode is None:
                _signal_group(process.pid, signal.SIGTERM)
                await process.wait()
        text = output.decode("utf-8", "replace").strip()
        if process.returncode == 2:
            raise WorkspaceError(text)
        if process.returncode:
            text += "\n[stopped: it took too long; search for something narrower]"
        return text

    # ------------------------------------------------------------------ commands

    async def run(
        self, command: str, folder: Path, timeout: float, on_terminal: Callable[[str], None]
    ) -> CommandResult:
        """Run a command line in a shell. Cancelling ends it with all processes that it has started.

        Args:
            on_terminal: Called with the id if the client shows the command in a terminal.
        """
        if self._has_terminals:
            return await self._run_in_terminal(command, folder, timeout, on_terminal)
        return await self._run_here(command, folder, timeout)

    async def _run_in_terminal(
        self, command: str, folder: Path, timeout: float, on_terminal: Callable[[str], None]
    ) -> CommandResult:
        client, session = self._client, self._session_id
        try:
            created = await client.create_terminal(
                session, "/bin/sh", ["-c", command], None, str(folder), MAX_OUTPUT_BYTES
            )
        except RequestError as error:
            raise WorkspaceError(f"The command was not started: {_reason(error)}.") from None
        terminal = created.terminal_id
        timed_out = False
        try:
            on_terminal(terminal)
            try:
                async with asyncio.timeout(timeout):
                    await client.wait_for_terminal_exit(session, terminal)
            except TimeoutError:
                timed_out = True
                await client.kill_terminal(session, terminal)
            answer = await client.terminal_output(session, terminal)
        except asyncio.CancelledError:
            await client.kill_terminal(session, terminal)
            raise
        except RequestError as error:
            raise WorkspaceError(f"The terminal of the command failed: {_reason(error)}.") from None
        finally:
            with contextlib.suppress(RequestError, ConnectionError):
                await client.release_terminal(session, terminal)
        code = answer.exit_status.exit_code if answer.exit_status is not None else None
        return CommandResult(answer.output, code, timed_out)

    async def _run_here(self, command: str, folder: Path, timeout: float) -> CommandResult:
        self._require_inside(folder)
        try:
            process = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", command),
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkspaceError(f"The command was not started: {error.strerror}.") from None
        assert process.stdout is not None
        output = _Output()
        reader = asyncio.create_task(output.read(process.stdout))
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                await process.wait()
                # Processes in the background may keep the output open: they get a moment to finish.
                await asyncio.wait([reader], timeout=KILL_GRACE_SECONDS)
        except TimeoutError:
            timed_out = True
        finally:
            _signal_group(process.pid, signal.SIGTERM)
            if process.returncode is None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), KILL_GRACE_SECONDS)
            _signal_group(process.pid, signal.SIGKILL)
            await process.wait()
            await asyncio.wait([reader], timeout=KILL_GRACE_SECONDS)
            reader.cancel()
        code = process.returncode if process.returncode is not None and process.returncode >= 0 else None
        return CommandResult(output.text(), code, timed_out)


class _Output:
    """The beginning and the end of an output of any length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    async def read(self, stream: asyncio.StreamReader) -> None:
        half = MAX_OUTPUT_BYTES // 2
        while data := await stream.read(1 << 16):
            room = half - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            if (extra := len(self._tail) - half) > 0:
                self._left_out += extra
                del self._tail[:extra]

    def text(self) -> str:
        cut = f"\n[… {self._left_out:,} bytes were left out …]\n".encode() if self._left_out else b""
        return bytes(self._head + cut + self._tail).decode("utf-8", "replace")


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _replace_file(path: Path, text: str) -> None:
    """Write a file atomically, and keep the mode of the one that it replaces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
            os.fchmod(descriptor, mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _reason(error: RequestError) -> str:
    details = error.data.get("details") if isinstance(error.data, dict) else None
    return str(details or error).strip().rstrip(".")

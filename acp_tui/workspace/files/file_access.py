"""Reading and writing files for the agent, in two steps: open, then read or write.

The first step opens the file (or the directory of a file to be written) and reports the file's real path, so
that the caller can ask the user. The second step uses what was opened: replacing a link between the steps has
no effect.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

from acp_tui.config.sensitive_files import reason_for_reading, sensitive_reason
from acp_tui.errors import Refusal
from acp_tui.permissions.subject import PathContext
from acp_tui.session.record import INTERNAL_ERROR
from acp_tui.workspace.files import open_folder
from acp_tui.workspace.files.atomic_write import UnwritableError, WriteTarget, find_target, write_atomically
from acp_tui.workspace.files.open_folder import Descriptor, Roots, path_identity, real_path, require_absolute
from acp_tui.workspace.git.repository import find_repository_folder, git_directory_reason
from acp_tui.workspace.terminals.terminal_emulator import terminal_environment

MAX_BYTES = 50_000_000
"""The maximum size of the text in one answer, because an answer is sent as a single line of JSON."""

_TOO_LARGE = (
    f"it has more than {MAX_BYTES // 1_000_000} MB of text; use `line` and `limit` to request a smaller part"
)
_LINE_CHUNK_BYTES = 256 * 1024
_SNIFF_BYTES = 8000  # git, too, calls a file binary if it has a NUL in its first 8000 bytes
_CHUNK_BYTES = 1 << 20
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class UnreadableError(Exception):
    """A file is not text, or too much text was requested. The message can follow "cannot be read: "."""


def read_lines(descriptor: int, first: int, limit: int | None) -> str:
    """Return up to `limit` lines (None: all) from the 1-based line `first` on."""
    if b"\0" in os.pread(descriptor, _SNIFF_BYTES, 0):
        raise UnreadableError("it is a binary file")
    position = _find_line(descriptor, first)
    data = b"" if position is None or limit == 0 else _read(descriptor, position, limit)
    if b"\0" in data:
        raise UnreadableError("it is a binary file")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first + data.count(b"\n", 0, error.start)
        raise UnreadableError(f"it is not valid UTF-8 (line {line})") from None


def _find_line(descriptor: int, line: int) -> int | None:
    """Return the byte position where a line begins; None if the file has fewer than `line - 1` newlines."""
    position, missing = 0, line - 1
    while missing:
        chunk = os.pread(descriptor, _LINE_CHUNK_BYTES, position)
        if not chunk:
            return None
        end = _end_of_line(chunk, missing)
        if end is not None:
            return position + end
        missing -= chunk.count(b"\n")
        position += len(chunk)
    return position


def _read(descriptor: int, position: int, limit: int | None) -> bytes:
    """Read up to `limit` lines (None: all) from a byte position on."""
    if limit is None and os.fstat(descriptor).st_size - position > MAX_BYTES:
        raise UnreadableError(_TOO_LARGE)
    parts: list[bytes] = []
    size = 0
    while chunk := os.pread(descriptor, _LINE_CHUNK_BYTES, position + size):
        end = None if limit is None else _end_of_line(chunk, limit)
        if end is not None:
            chunk = chunk[:end]
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise UnreadableError(_TOO_LARGE)
        if end is not None:
            break
        if limit is not None:
            limit -= chunk.count(b"\n")
    return b"".join(parts)


def _end_of_line(chunk: bytes, count: int) -> int | None:
    """Return the position after the `count`-th newline; None if there are fewer."""
    if chunk.count(b"\n") < count:
        return None
    position = -1
    for _ in range(count):
        position = chunk.index(b"\n", position + 1)
    return position + 1


class FileAccess:
    """Opens files for reading and writing.

    Paths outside the workspace are not refused here: callers check `inside` and `sensitive` and ask the user.
    """

    def __init__(self, roots: Roots, sensitive_patterns: Sequence[str] = ()) -> None:
        self.roots = roots
        self._patterns = tuple(sensitive_patterns)
        self._locks: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
        self._locks_guard = threading.Lock()

    def open_for_reading(self, path: str) -> ReadHandle:
        """Open an existing regular file. Blocks: call it in a thread."""
        require_absolute(path)
        try:
            # Opening a device or a pipe can have side effects, so check before opening. The second check
            # finds a file that was replaced between the first check and the opening.
            _require_regular(Path(path).stat(), path)
            file = Descriptor(os.open(path, _READ_FLAGS))
            with file.borrow() as number:
                _require_regular(os.fstat(number), path)
                real = real_path(number)
        except (FileNotFoundError, NotADirectoryError):
            raise open_folder.not_found(path) from None
        except OSError as error:
            raise open_folder.unreadable(path, open_folder.describe(error), INTERNAL_ERROR) from None
        why = reason_for_reading(self.sensitive(real), self.sensitive(path))
        return ReadHandle(path, real, file, inside=self.roots.contains(real), why=why)

    def prepare_writing(self, path: str) -> WriteHandle:
        """Open the directory of a file to be written, without creating anything.

        If that directory does not exist yet, open the innermost existing one. Blocks: call it in a thread.
        """
        require_absolute(path)
        try:
            target = find_target(path)
        except UnwritableError as error:
            raise open_folder.unwritable(path, str(error)) from None
        except OSError as error:
            raise open_folder.unwritable(path, open_folder.describe(error), INTERNAL_ERROR) from None
        real = target.real
        with self._locks_guard:
            lock = self._locks.setdefault(real, threading.Lock())
        why = self.sensitive(real) or self.sensitive(path)
        return WriteHandle(path, target, lock, inside=self.roots.contains(real), why=why)

    def sensitive(self, path: str | Path) -> str | None:
        """Return why the user should be asked about this path; None if there is no need.

        Considers the built-in patterns, the patterns in the settings, and git directories.
        """
        return sensitive_reason(path, self._patterns) or git_directory_reason(path)


class ReadHandle:
    def __init__(self, path: str, real: Path, file: Descriptor, *, inside: bool, why: str | None) -> None:
        self.path = path
        """The path as the caller gave it."""
        self.real = real
        """The real path of the open file, without links."""
        self.inside = inside
        """Whether the real path is below one of the roots."""
        self.sensitive = why
        """Why the user should be asked before the file is read; None if there is no need."""
        self._file = file

    def text(self, line: int | None = None, limit: int | None = None) -> str:
        """Return the text, or `limit` lines from the 1-based `line` on. Blocks: call it in a thread.

        Line ends are kept. If `line` is past the end, the result is empty. A `line` below 1 stands for the
        first line, and a negative `limit` means no limit, because some agents send such values.
        """
        try:
            with self._file.borrow() as number:
                return read_lines(number, max(line or 1, 1), None if limit is None or limit < 0 else limit)
        except UnreadableError as error:
            raise open_folder.unreadable(self.path, str(error)) from None
        except OSError as error:
            raise open_folder.unreadable(self.path, open_folder.describe(error), INTERNAL_ERROR) from None

    def data(self, max_bytes: int) -> bytes:
        """Return the first `max_bytes` bytes of the file, or the whole file if it is smaller.

        Blocks: call it in a thread.
        """
        parts: list[bytes] = []
        try:
            with self._file.borrow() as number:
                position = 0
                while position < max_bytes and (
                    chunk := os.pread(number, min(max_bytes - position, _CHUNK_BYTES), position)
                ):
                    parts.append(chunk)
                    position += len(chunk)
        except OSError as error:
            raise open_folder.unreadable(self.path, open_folder.describe(error), INTERNAL_ERROR) from None
        return b"".join(parts)

    @property
    def size(self) -> int:
        """The current size in bytes."""
        with self._file.borrow() as number:
            return os.fstat(number).st_size

    def close(self) -> None:
        """Close the file. May be called again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class WriteHandle:
    """A file to write. Its directory, or the innermost existing one, is open. The file need not exist yet."""

    def __init__(
        self, path: str, target: WriteTarget, lock: threading.Lock, *, inside: bool, why: str | None
    ) -> None:
        self.path = path
        """The path as the agent gave it."""
        self.real = target.real
        """The real path that will be written, without links."""
        self.inside = inside
        """Whether the real path is below one of the roots."""
        self.sensitive = why
        """Why the user should be asked before the file is written; None if there is no need."""
        self.exists = target.exists
        """Whether the file existed when the handle was created."""
        self.new_directories = target.new_directories
        """Directories that writing will create, outermost first."""
        self._target = target
        self._lock = lock

    def old_text(self) -> str | None:
        """Return the current text, for a diff; None if it is missing, unreadable or not text. Blocks."""
        try:
            with self._target.open_file() as file, file.borrow() as number:
                _require_regular(os.fstat(number), self.path)
                return read_lines(number, 1, None)
        except (OSError, Refusal, UnreadableError):
            return None

    def write(self, content: str) -> None:
        """Write the text byte for byte, completely or not at all. Blocks: call it in a thread.

        Missing directories are created. Concurrent writes to the same path are done one after another.
        """
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise open_folder.unwritable(self.path, "its text contains lone surrogates") from None
        try:
            with self._lock:
                write_atomically(self._target, data)
        except UnwritableError as error:
            raise open_folder.unwritable(self.path, str(error)) from None
        except OSError as error:
            raise open_folder.unwritable(self.path, open_folder.describe(error), INTERNAL_ERROR) from None

    def close(self) -> None:
        """Close the directory. May be called again."""
        self._target.directory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _require_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise open_folder.unreadable(path, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise open_folder.unreadable(path, "it is not a regular file")


def remote_path_context(folder: str) -> PathContext:
    """Return the context for paths on another machine, which are compared as text."""
    return PathContext(cwd=folder, roots=[folder], resolve=os.path.normpath)


def path_context(files: FileAccess) -> PathContext:
    """Return the context for classifying the paths in the requests of a conversation."""
    return PathContext(
        cwd=str(files.roots.cwd),
        roots=[str(directory) for directory in files.roots.directories],
        resolve=os.path.realpath,
        sensitive=files.sensitive,
        base_environment=terminal_environment({}),
        identify=path_identity,
        repository_of=find_repository_folder,
    )

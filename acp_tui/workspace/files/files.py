"""Reading and writing files for the agent, in two steps: find the file, then act on it.

Between the steps the user may be asked. The first step opens the file (or the directory it will be
written to) and says where that really is; the second acts on what was opened. A link that is swapped
in between changes nothing.
"""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self
from weakref import WeakValueDictionary

from acp_tui.config.sensitive_files import sensitive_reason
from acp_tui.errors import Refusal
from acp_tui.workspace.files import errors
from acp_tui.workspace.files.atomic_write import replace
from acp_tui.workspace.files.descriptors import Descriptor, real_path
from acp_tui.workspace.files.git_folders import git_directory_reason
from acp_tui.workspace.files.location import UnwritableError, locate
from acp_tui.workspace.files.roots import Roots, require_absolute
from acp_tui.workspace.files.text_lines import UnreadableError, read_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.workspace.files.location import Location

_CHUNK = 1 << 20
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Files:
    """Serves file requests. Paths outside the workspace are not refused here.

    Callers check `inside` and `sensitive` and ask the user.
    """

    def __init__(self, roots: Roots, sensitive_patterns: Sequence[str] = ()) -> None:
        self.roots = roots
        self._patterns = tuple(sensitive_patterns)
        self._locks: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
        self._locks_guard = threading.Lock()

    def open_for_reading(self, path: str) -> ReadHandle:
        """Open an existing regular file; blocks, so call it in a thread."""
        require_absolute(path)
        try:
            # Opening a device or a pipe can have effects of its own, so look first. A swap after
            # that is met by the second look, at what was opened.
            _regular(Path(path).stat(), path)
            file = Descriptor(os.open(path, _READ_FLAGS))
            with file.borrow() as number:
                _regular(os.fstat(number), path)
                real = real_path(number)
        except (FileNotFoundError, NotADirectoryError):
            raise errors.not_found(path) from None
        except OSError as error:
            raise errors.unreadable(path, errors.describe(error), errors.FAILED) from None
        return ReadHandle(path, real, file, inside=self.roots.contains(real), why=self._sensitive(path, real))

    def prepare_writing(self, path: str) -> WriteHandle:
        """Find where a file is or will be; blocks, so call it in a thread. Nothing is created yet."""
        require_absolute(path)
        try:
            place = locate(path)
        except UnwritableError as error:
            raise errors.unwritable(path, str(error)) from None
        except OSError as error:
            raise errors.unwritable(path, errors.describe(error), errors.FAILED) from None
        real = place.real
        with self._locks_guard:
            lock = self._locks.setdefault(real, threading.Lock())
        return WriteHandle(
            path, place, lock, inside=self.roots.contains(real), why=self._sensitive(path, real)
        )

    def sensitive(self, path: str | Path) -> str | None:
        """Why the user should be asked about a file of this name, with the patterns of the settings."""
        return sensitive_reason(path, self._patterns) or git_directory_reason(path)

    def _sensitive(self, asked: str, real: Path) -> str | None:
        """Check the path as named and its real path: either may be sensitive."""
        return self.sensitive(real) or self.sensitive(asked)


class ReadHandle:
    """A file opened for reading."""

    def __init__(self, path: str, real: Path, file: Descriptor, *, inside: bool, why: str | None) -> None:
        self.path = path
        """As the agent named it."""
        self.real = real
        """Where the open file is, free of links."""
        self.inside = inside
        """Whether that is below one of the roots."""
        self.sensitive = why
        """Why the user should be asked, or None."""
        self._file = file

    def text(self, line: int | None = None, limit: int | None = None) -> str:
        """The text, or `limit` lines from the 1-based `line` on; blocks, so call it in a thread.

        Line ends are kept as they are. Lines past the end are an empty text. A `line` below 1 means the
        first, and a negative `limit` means none: some agents say so.
        """
        try:
            with self._file.borrow() as number:
                return read_lines(number, max(line or 1, 1), None if limit is None or limit < 0 else limit)
        except UnreadableError as error:
            raise errors.unreadable(self.path, str(error)) from None
        except OSError as error:
            raise errors.unreadable(self.path, errors.describe(error), errors.FAILED) from None

    def data(self, most: int) -> bytes:
        """The first bytes of it, whatever they are; blocks, so call it in a thread."""
        parts: list[bytes] = []
        try:
            with self._file.borrow() as number:
                position = 0
                while position < most and (chunk := os.pread(number, min(most - position, _CHUNK), position)):
                    parts.append(chunk)
                    position += len(chunk)
        except OSError as error:
            raise errors.unreadable(self.path, errors.describe(error), errors.FAILED) from None
        return b"".join(parts)

    @property
    def size(self) -> int:
        """Its size in bytes, as it is now."""
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
    """A place in an open directory where a file is or will be."""

    def __init__(
        self, path: str, place: Location, lock: threading.Lock, *, inside: bool, why: str | None
    ) -> None:
        self.path = path
        """As the agent named it."""
        self.real = place.real
        """Where it will really be written, free of links."""
        self.inside = inside
        """Whether that is below one of the roots."""
        self.sensitive = why
        """Why the user should be asked, or None."""
        self.exists = place.exists
        """False: a new file."""
        self.new_directories = place.new_directories
        """Directories that will be made for it, outermost first."""
        self._place = place
        self._lock = lock

    def old_text(self) -> str | None:
        """What is there now, to be shown; None when nothing is, or no text. Blocks."""
        try:
            with self._place.open_file() as file, file.borrow() as number:
                _regular(os.fstat(number), self.path)
                return read_lines(number, 1, None)
        except (OSError, Refusal, UnreadableError):
            return None

    def write(self, content: str) -> None:
        """Put the text there, byte for byte, wholly or not at all; blocks, so call it in a thread.

        Writes to one path wait for each other. Missing directories are made first.
        """
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise errors.unwritable(self.path, "its text contains lone surrogates") from None
        try:
            with self._lock:
                replace(self._place, data)
        except UnwritableError as error:
            raise errors.unwritable(self.path, str(error)) from None
        except OSError as error:
            raise errors.unwritable(self.path, errors.describe(error), errors.FAILED) from None

    def close(self) -> None:
        """Close the directory. May be called again."""
        self._place.directory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise errors.unreadable(path, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise errors.unreadable(path, "it is not a regular file")

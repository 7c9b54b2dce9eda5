"""Keeps the working directory of a command open while the user decides whether to allow the command.

Replacing a link in the path of the directory in the meantime has no effect.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from acp_tui.errors import Refusal, UserError
from acp_tui.session.record import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND

# O_PATH needs no read permission on the directory. macOS does not have it.
DIRECTORY_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_SENTENCES = {
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.EROFS: "its file system is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is exceeded",
    errno.EFBIG: "it would exceed the file size limit",
    errno.EISDIR: "it is a directory",
    errno.ENOTDIR: "a part of its path is a file, not a directory",
    errno.ELOOP: "its path has too many links",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENOENT: "it was moved or deleted in the meantime",
}
_HAS_FD_DIRECTORY = Path("/proc/self/fd").is_dir()


class Descriptor:
    """A file descriptor that is closed exactly once: by `close`, or when it is garbage-collected."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, os.close, number)

    @contextmanager
    def borrow(self) -> Iterator[int]:
        """Yield a duplicate of the descriptor. The duplicate stays valid if another thread calls `close`."""
        with self._lock:
            if not self._finalizer.alive:
                raise ValueError("the file has been closed")
            copy = os.dup(self._number)
        try:
            yield copy
        finally:
            os.close(copy)

    def close(self) -> None:
        """Close the descriptor. May be called again."""
        with self._lock:
            self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def real_path(descriptor: int) -> Path:
    """Return the path, without links, that the kernel reports for an open file or directory."""
    if sys.platform == "darwin":
        return Path(os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")))
    try:
        found = str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except FileNotFoundError:
        raise OSError(errno.ENOSYS, "/proc is not mounted, so the real path is unknown") from None
    if os.fstat(descriptor).st_nlink == 0:
        found = found.removesuffix(" (deleted)")
    return Path(found)


def not_found(path: str) -> Refusal:
    """Return the error that the protocol defines for a missing file."""
    return Refusal(
        RESOURCE_NOT_FOUND, f"Resource not found: {path}", {"path": path, "uri": Path(path).as_uri()}
    )


def unreadable(path: str, why: str, code: int = INVALID_PARAMS) -> Refusal:
    """Return the error for a file that exists but cannot be read as text."""
    return Refusal(code, f"{path} cannot be read: {why}", {"path": path})


def unwritable(path: str, why: str, code: int = INVALID_PARAMS) -> Refusal:
    """Return the error for a file that cannot be written. The error says that nothing was changed."""
    return Refusal(code, f"{path} cannot be written: {why}; nothing was changed", {"path": path})


def describe(error: OSError) -> str:
    """Return the reason for an error as a clause that can follow "cannot be read: "."""
    return _SENTENCES.get(error.errno or 0) or error.strerror or str(error)


class Roots:
    """The root directories. Links in their paths are resolved once: replacing a link later has no effect."""

    def __init__(self, cwd: Path, additional: Sequence[Path] = ()) -> None:
        self.cwd = _resolved(cwd)
        found = dict.fromkeys([self.cwd, *(_resolved(directory) for directory in additional)])
        self.directories: tuple[Path, ...] = tuple(found)
        """All roots, the working directory first."""

    def contains(self, real: Path) -> bool:
        """Return True if `real`, a path without links and `..`, is a root or below a root."""
        return any(real.is_relative_to(directory) for directory in self.directories)


def require_absolute(path: str) -> str:
    """Return the path unchanged. Raises `Refusal` if the path is invalid or relative.

    ACP requires absolute paths.
    """
    if not path.startswith("/"):
        raise Refusal(INVALID_PARAMS, f"{path!r} is not an absolute path", {"path": path})
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise Refusal(INVALID_PARAMS, f"{path!r} is not a valid file name", {"path": path})
    return path


def _resolved(directory: Path) -> Path:
    try:
        descriptor = os.open(directory, DIRECTORY_FLAGS)
    except FileNotFoundError:
        raise UserError(f"The folder {directory} does not exist.") from None
    except NotADirectoryError:
        raise UserError(f"{directory} is not a folder.") from None
    except OSError as error:
        raise UserError(f"The folder {directory} cannot be opened: {error.strerror}.") from None
    try:
        return real_path(descriptor)
    finally:
        os.close(descriptor)


class OpenFolder:
    """An open folder. Replacing a link in its path afterwards has no effect."""

    def __init__(self, path: str, descriptor: Descriptor) -> None:
        self.path = path
        """The path by which the folder was opened."""
        self._descriptor = descriptor
        with descriptor.borrow() as number:
            self.real = real_path(number)
            """The real path, without links."""
            self.identity = _identity(number)
            """Device and inode number, which stay the same when the folder is renamed."""

    @contextmanager
    def working_directory(self) -> Iterator[str]:
        """Yield a path that leads to this folder and is valid within the block.

        The path can be the working directory in which a child process is started. macOS has no such path;
        there, the real path is yielded. Raises `Refusal` if the real path leads to another folder.
        """
        with self._descriptor.borrow() as number:
            if _HAS_FD_DIRECTORY:
                yield f"/proc/self/fd/{number}"
                return
            found = self.real.stat()
            if (found.st_dev, found.st_ino) != self.identity:
                raise Refusal(
                    INTERNAL_ERROR, f"the working directory {self.path} was replaced", {"path": self.path}
                )
            yield str(self.real)

    def close(self) -> None:
        """Close the folder. May be called again."""
        self._descriptor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_folder(path: str) -> OpenFolder:
    """Open a folder by its absolute path. Blocks: call `open_folder` in a thread."""
    if not path.startswith("/"):
        raise Refusal(INVALID_PARAMS, f"cwd must be an absolute path, not {path!r}", {"path": path})
    require_absolute(path)
    try:
        return OpenFolder(path, Descriptor(os.open(path, DIRECTORY_FLAGS)))
    except NotADirectoryError:
        raise Refusal(
            RESOURCE_NOT_FOUND, f"the working directory {path} is not a directory", {"path": path}
        ) from None
    except FileNotFoundError:
        raise Refusal(
            RESOURCE_NOT_FOUND, f"the working directory {path} does not exist", {"path": path}
        ) from None
    except OSError as error:
        why = f"the working directory {path} cannot be opened: {describe(error)}"
        raise Refusal(INTERNAL_ERROR, why, {"path": path}) from None


def path_identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode number of the file or folder at a path; None if `stat` fails."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino

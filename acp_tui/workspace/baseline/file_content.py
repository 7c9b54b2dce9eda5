"""Reads the content of files and the targets of links. Pipes and files above a maximum size are refused."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass


class NotCopiedError(Exception):
    """A file exists but cannot be copied. The message is the reason."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a regular file or a link."""

    data: bytes  # for a link, its target
    mode: int  # including the file type; without permissions for a link, as in git


def read_content(path: bytes, max_size: int) -> FileContent | None:
    """Return the content of a file or link; None if the path does not exist or is a folder.

    Raises `NotCopiedError` for a file that is larger than `max_size` bytes or unreadable, and for a special
    file such as a pipe.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(path)  # noqa: PTH115 - names need not be UTF-8
            return FileContent(os.fsencode(target), stat.S_IFLNK)
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise NotCopiedError("it is not a regular file")
        return _read(path, max_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotCopiedError(f"it could not be read ({error.strerror})") from None


def _read(path: bytes, max_size: int) -> FileContent:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotCopiedError("it is not a regular file")
        data = file.read(max_size + 1) if status.st_size <= max_size else b""
        if max(len(data), status.st_size) > max_size:
            raise NotCopiedError(f"it was larger than {max_size / 1_000_000:g} MB")
        return FileContent(data, status.st_mode)


def signature(path: bytes) -> tuple[int, ...] | None:
    """Return a value to detect changes of a file: inode, mode, size and times. None if they cannot be read.

    The content of the file is not read.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns

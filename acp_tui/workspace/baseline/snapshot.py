"""Files as they are now: read without following links, without blocking on pipes, within a size."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass


class NotCopiedError(Exception):
    """It is there and was not read: why, in words."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A regular file or a link."""

    data: bytes  # of a link: its target
    mode: int  # with the bits of the file's type


def read_content(path: bytes, most: int) -> FileContent | None:
    """What is there; None when nothing is. `NotCopiedError` when it is too large, or no file."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(path)  # noqa: PTH115 - names need not be UTF-8
            return FileContent(os.fsencode(target), status.st_mode)
        if not stat.S_ISREG(status.st_mode):
            raise NotCopiedError("it is not a regular file")
        return _read(path, most)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotCopiedError(f"it could not be read ({error.strerror})") from None


def _read(path: bytes, most: int) -> FileContent:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotCopiedError("it is not a regular file")
        data = file.read(most + 1) if status.st_size <= most else b""
        if max(len(data), status.st_size) > most:
            raise NotCopiedError(f"it was larger than {most / 1_000_000:g} MB")
        return FileContent(data, status.st_mode)


def signature(path: bytes) -> tuple[int, ...] | None:
    """What changes whenever a file does, without reading it."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns

"""Reads settings files of untrusted origin: a cloned repository may contain a pipe or a huge file."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK  # opening a pipe would block otherwise
MAX_BYTES = 1_000_000


class FileTooLargeError(OSError):
    """A file that has more than `MAX_BYTES`."""

    def __init__(self) -> None:
        super().__init__(None, f"larger than {MAX_BYTES // 1_000_000} MB")


def read_small_file(file: Path) -> bytes | None:
    """Return the content of a regular file; None if the file is missing, a pipe or a device.

    Raises `FileTooLargeError` if the file has more than `MAX_BYTES`, and `OSError` if it cannot be read.
    """
    try:
        descriptor = os.open(file, _FLAGS)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        # `open` would raise the same error, but leave the descriptor open.
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    with open(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read(opened)


def read_small_file_inside(folder: Path, name: str) -> bytes | None:
    """Return the content of a regular file in a folder; None if there is no file.

    Raises `OSError` for anything else, such as a device or a link that leads out of the folder.
    """
    real = _resolved(folder / name)
    if not real.is_relative_to(_resolved(folder)):
        raise OSError(None, "it is a link that leads out of the folder")
    try:
        if not stat.S_ISREG(real.stat().st_mode):  # opening a device may have side effects
            raise OSError(None, "it is not a regular file")
        descriptor = os.open(real, _FLAGS | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(descriptor, "rb") as opened:
        # A part of the path may have been replaced by a link since the path was resolved.
        if not os.path.samestat(os.fstat(descriptor), real.stat()) or _resolved(real) != real:
            raise OSError(None, "it is being replaced")
        return _read(opened)


def _resolved(path: Path) -> Path:
    """Return the real path. Raises no `RuntimeError` for a loop of links, unlike `Path.resolve`."""
    return type(path)(os.path.realpath(path))


def _read(opened: BinaryIO) -> bytes:
    data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileTooLargeError
    return data

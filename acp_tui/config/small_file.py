"""Reads settings files of untrusted origin: a cloned repository may contain a pipe or a huge file."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1_000_000


class FileTooLargeError(OSError):
    """A file that has more than `MAX_BYTES`."""

    def __init__(self) -> None:
        super().__init__(None, f"larger than {MAX_BYTES // 1_000_000} MB")


def read_small_file(file: Path) -> bytes | None:
    """Return the content of a regular file; None if there is none, or if it is a pipe or a device.

    Raises `FileTooLargeError` without reading the rest of the file, and `OSError` if it cannot be read.
    """
    try:
        # Without O_NONBLOCK, opening a pipe blocks until another process writes to it.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileTooLargeError
    return data

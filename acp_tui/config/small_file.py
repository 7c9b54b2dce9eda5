"""Reads settings files, which anybody may have written: a clone may bring a pipe or a file of any size."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1_000_000


class FileTooLargeError(OSError):
    """The file has more than `MAX_BYTES`."""

    def __init__(self) -> None:
        super().__init__(None, f"larger than {MAX_BYTES // 1_000_000} MB")


def read_small_file(file: Path) -> bytes | None:
    """Return the content of a regular file; None if there is none, or if it is a pipe or a device.

    Raises `FileTooLargeError` without reading the rest of a large file, and `OSError` for any other reason.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
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

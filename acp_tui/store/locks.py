"""Locks between processes. They follow the open file, so a process that dies leaves none behind."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RETRY_SECONDS = 0.005

# Some network file systems cannot lock. Working without is better there than not working.
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS}


def try_lock(descriptor: int) -> bool:
    """Take the lock of this open file if nobody has it; it is given back when the file is closed."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


class LockedError(OSError):
    """Another process has held the lock for too long."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EWOULDBLOCK, f"another process holds the lock {path}")


@contextmanager
def locked(path: Path, *, patience: float) -> Iterator[None]:
    """Hold the lock of this file, which is created when missing.

    Other processes hold it for milliseconds. One that was stopped meanwhile must not stop us too: after
    `patience` seconds this raises `LockedError`.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise LockedError(path)
            time.sleep(RETRY_SECONDS)
        yield
    finally:
        os.close(descriptor)

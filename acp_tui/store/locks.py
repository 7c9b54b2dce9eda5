"""Locks between processes. They follow the open file, so a process that dies leaves none behind."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of this file (made when missing), waiting for it: for work that takes a moment."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        yield
    finally:
        os.close(descriptor)

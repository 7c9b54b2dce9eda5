"""Locks between processes. The system releases the locks of a process when the process ends or crashes."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from acp_tui.config.own_files import open_own
from acp_tui.config.paths import private_directory

RETRY_SECONDS = 0.005

# Some network file systems do not support locks. There, acp-tui works without.
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS}


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed. Return False if the file is locked already.

    On a file system without locks, return True without locking the file.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


def unlock_and_close(descriptor: int) -> None:
    """Release the lock on an open file and close it.

    Closing alone would not be enough: a child process that has just been forked still has the file open.
    """
    with suppress(OSError):  # see `_UNSUPPORTED`
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


class LockedError(OSError):
    """Raised if another process holds a lock for too long."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EWOULDBLOCK, f"another process holds the lock {path}")


@contextmanager
def file_lock(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the lock on a file, which is created if it is missing.

    Most locks are held for milliseconds, unless a process is suspended while it holds the lock. The lock of
    the session index is held for a whole update. Raises `LockedError` if another process still holds the lock
    after `timeout` seconds, and `OSError` if the file cannot be opened.
    """
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        deadline = time.monotonic() + timeout
        while not try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise LockedError(path)
            time.sleep(RETRY_SECONDS)
        yield
    finally:
        unlock_and_close(descriptor)


@contextmanager
def change_lock(file: Path, *, timeout: float = 1.0) -> Iterator[None]:
    """Hold the lock for changing a file, as `file_lock` does. Creates the folder of the file if needed."""
    private_directory(file.parent)
    with file_lock(file.with_name(f".{file.name}.lock"), timeout=timeout):
        yield

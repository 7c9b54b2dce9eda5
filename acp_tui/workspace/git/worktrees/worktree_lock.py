"""The lock that keeps a worktree from being removed while a conversation works in it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class WorktreeLock:
    """A shared lock on the folder of a worktree, held until `release` or until the process ends.

    `is_shared` returns False if the folder was missing from the start, and on network file systems without
    locks.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        self._path = path
        with suppress(OSError), _guard(path):
            self._descriptor = _open_folder(path)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def is_shared(self) -> bool:
        """Return True if another conversation, of this or another acp-tui process, holds the lock as well."""
        if self._descriptor is None:
            return False
        with suppress(OSError), _guard(self._path):
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:  # an attempt to get the exclusive lock releases the shared one
                fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Let only one process at a time take or test a worktree's lock.

    To test the lock, a process releases its own shared lock for a moment. Without the guard, another process
    could find the lock free at that moment.
    """
    descriptor = _open_folder(path.parent)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open_folder(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

"""The lock that keeps a worktree from being removed while a conversation works in it."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class WorktreeLock:
    """A shared lock on the folder of a worktree, held until `release` or until the process ends.

    Some network file systems have no locks. There, and if the folder is gone, `is_shared` returns False.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def is_shared(self) -> bool:
        """Return True if another conversation, of this or another acp-tui process, holds the lock as well."""
        if self._descriptor is None:
            return False
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            shared = True
        except OSError:
            return False
        else:
            shared = False
        with suppress(OSError):  # an attempt to get the exclusive lock releases the shared one
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return shared

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

"""Marks a worktree as used, so that it is not removed below another conversation."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class WorktreeUse:
    """A shared lock on the folder of a worktree, held until `end` or until the process ends.

    On file systems without locks, and if the folder is gone, nothing is ever used by others.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def is_shared(self) -> bool:
        """Return True if another conversation, of this or another acp-tui, works in the worktree as well."""
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
        with suppress(OSError):  # taken back, also if it was lost in the attempt
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return shared

    def end(self) -> None:
        """Release the lock. May be called again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

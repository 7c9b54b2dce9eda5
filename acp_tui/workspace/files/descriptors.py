"""File descriptors that close themselves, and the real path of an open file.

A path can lead to another file a moment later, because a link or a directory was replaced. So each path is
opened only once, and both the permission check and the access that follows use the open descriptor.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

# O_PATH needs no read permission on the directory. macOS does not have it.
DIRECTORY_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class Descriptor:
    """A file descriptor that is closed exactly once: by `close`, or when it is garbage-collected."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, os.close, number)

    @contextmanager
    def borrow(self) -> Iterator[int]:
        """Yield a duplicate of the descriptor. The duplicate stays valid if another thread calls `close`."""
        with self._lock:
            if not self._finalizer.alive:
                raise ValueError("the file has been closed")
            copy = os.dup(self._number)
        try:
            yield copy
        finally:
            os.close(copy)

    def close(self) -> None:
        """Close the descriptor. May be called again."""
        with self._lock:
            self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def real_path(descriptor: int) -> Path:
    """Return the path, without links, that the kernel reports for an open file or directory."""
    if sys.platform == "darwin":
        return Path(os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")))
    try:
        found = str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except FileNotFoundError:
        raise OSError(errno.ENOSYS, "/proc is not mounted, so the real path is unknown") from None
    if os.fstat(descriptor).st_nlink == 0:
        found = found.removesuffix(" (deleted)")
    return Path(found)

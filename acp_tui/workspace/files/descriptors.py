"""Open files and directories, and where they really are.

What is decided about a path must hold for what is then read or written, whatever happens to links and
names in between. So a path is opened first, and all else is asked of the open descriptor.
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

# A descriptor that only stands for a place needs no permission to read there; macOS has none such.
DIRECTORY_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class Descriptor:
    """An open descriptor that is closed once: by `close`, or when nobody holds it any more."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, os.close, number)

    @contextmanager
    def borrow(self) -> Iterator[int]:
        """A copy for one piece of work: `close` in another thread cannot pull it away."""
        with self._lock:
            if not self._finalizer.alive:
                raise ValueError("the file has been closed")
            copy = os.dup(self._number)
        try:
            yield copy
        finally:
            os.close(copy)

    def close(self) -> None:
        """Close it; again is no error."""
        with self._lock:
            self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def real_path(descriptor: int) -> Path:
    """Where an open file or directory is, free of links, as the kernel knows it."""
    if sys.platform == "darwin":
        return Path(os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")))
    try:
        found = str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except FileNotFoundError:
        raise OSError(errno.ENOSYS, "/proc is not mounted, so its real path cannot be determined") from None
    if os.fstat(descriptor).st_nlink == 0:
        found = found.removesuffix(" (deleted)")
    return Path(found)

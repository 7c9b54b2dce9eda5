"""A folder that is opened before the user is asked, so that the command runs in that very folder."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from acp_tui.errors import Refusal
from acp_tui.workspace.files.descriptors import DIRECTORY_FLAGS, Descriptor, real_path
from acp_tui.workspace.files.errors import FAILED, INVALID_PARAMS, NOT_FOUND, describe
from acp_tui.workspace.files.roots import require_absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDERS_HAVE_PATHS = Path("/proc/self/fd").is_dir()


class OpenFolder:
    """An open folder: a link that is swapped after this is followed no more."""

    def __init__(self, path: str, descriptor: Descriptor) -> None:
        self.path = path
        """As it was named."""
        self._descriptor = descriptor
        with descriptor.borrow() as number:
            self.real = real_path(number)
            """Where it is, free of links."""
            self.identity = _identity(number)
            """Device and inode."""

    @contextmanager
    def working_directory(self) -> Iterator[str]:
        """Yield a path that leads to this folder as long as the block lasts, also in a child process.

        macOS has no path for an open folder: there it is the real path, checked once more.
        """
        with self._descriptor.borrow() as number:
            if _FOLDERS_HAVE_PATHS:
                yield f"/proc/self/fd/{number}"
                return
            found = self.real.stat()
            if (found.st_dev, found.st_ino) != self.identity:
                raise Refusal(FAILED, f"the working directory {self.path} was replaced", {"path": self.path})
            yield str(self.real)

    def close(self) -> None:
        """Let go of it; again is no error."""
        self._descriptor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_folder(path: str) -> OpenFolder:
    """Open a folder by an absolute path; blocks, so call it in a thread."""
    if not path.startswith("/"):
        raise Refusal(INVALID_PARAMS, f"cwd must be an absolute path, not {path!r}", {"path": path})
    require_absolute(path)
    try:
        return OpenFolder(path, Descriptor(os.open(path, DIRECTORY_FLAGS)))
    except NotADirectoryError:
        raise Refusal(NOT_FOUND, f"the working directory {path} is not a directory", {"path": path}) from None
    except FileNotFoundError:
        raise Refusal(NOT_FOUND, f"the working directory {path} does not exist", {"path": path}) from None
    except OSError as error:
        why = f"the working directory {path} cannot be opened: {describe(error)}"
        raise Refusal(FAILED, why, {"path": path}) from None


def path_identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of what a path leads to now; None when that is nothing."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino

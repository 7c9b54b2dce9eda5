"""Keeps the working directory of a command open while the user decides whether to allow the command.

Replacing a link in the path of the directory in the meantime has no effect.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from acp_tui.errors import Refusal
from acp_tui.session.error_codes import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from acp_tui.workspace.files.descriptors import DIRECTORY_FLAGS, Descriptor, real_path
from acp_tui.workspace.files.refusals import describe
from acp_tui.workspace.files.roots import require_absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

_HAS_FD_DIRECTORY = Path("/proc/self/fd").is_dir()


class OpenFolder:
    """An open folder. Replacing a link in its path afterwards has no effect."""

    def __init__(self, path: str, descriptor: Descriptor) -> None:
        self.path = path
        """The path by which the folder was opened."""
        self._descriptor = descriptor
        with descriptor.borrow() as number:
            self.real = real_path(number)
            """The real path, without links."""
            self.identity = _identity(number)
            """Device and inode number, which stay the same when the folder is renamed."""

    @contextmanager
    def working_directory(self) -> Iterator[str]:
        """Yield a path that leads to this folder and is valid within the block.

        The path can be the working directory in which a child process is started. macOS has no such path;
        there, the real path is yielded. Raises `Refusal` if the real path leads to another folder.
        """
        with self._descriptor.borrow() as number:
            if _HAS_FD_DIRECTORY:
                yield f"/proc/self/fd/{number}"
                return
            found = self.real.stat()
            if (found.st_dev, found.st_ino) != self.identity:
                raise Refusal(
                    INTERNAL_ERROR, f"the working directory {self.path} was replaced", {"path": self.path}
                )
            yield str(self.real)

    def close(self) -> None:
        """Close the folder. May be called again."""
        self._descriptor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_folder(path: str) -> OpenFolder:
    """Open a folder by its absolute path. Blocks: call `open_folder` in a thread."""
    if not path.startswith("/"):
        raise Refusal(INVALID_PARAMS, f"cwd must be an absolute path, not {path!r}", {"path": path})
    require_absolute(path)
    try:
        return OpenFolder(path, Descriptor(os.open(path, DIRECTORY_FLAGS)))
    except NotADirectoryError:
        raise Refusal(
            RESOURCE_NOT_FOUND, f"the working directory {path} is not a directory", {"path": path}
        ) from None
    except FileNotFoundError:
        raise Refusal(
            RESOURCE_NOT_FOUND, f"the working directory {path} does not exist", {"path": path}
        ) from None
    except OSError as error:
        why = f"the working directory {path} cannot be opened: {describe(error)}"
        raise Refusal(INTERNAL_ERROR, why, {"path": path}) from None


def path_identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode number of the file or folder at a path; None if `stat` fails."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino

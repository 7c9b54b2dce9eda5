"""Restores files from the snapshot."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from acp_tui.workspace.files.atomic_write import put, put_link
from acp_tui.workspace.files.location import UnwritableError, locate_real_path

if TYPE_CHECKING:
    from pathlib import Path


def restore(path: Path, data: bytes, mode: int) -> None:
    """Restore a file or link; missing folders are created."""
    place = locate_real_path(path)
    with place.directory, place.entered() as directory:
        try:
            now = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            now = None
        if now is not None and stat.S_ISDIR(now.st_mode):
            _remove_empty(directory, place.name)
            now = None
        if stat.S_ISLNK(mode):
            put_link(directory, place.name, data)
        else:
            old = now if now is not None and stat.S_ISREG(now.st_mode) else None
            put(directory, place.name, data, old, stat.S_IMODE(mode))


def remove(path: Path) -> None:
    """Remove a file or link that did not exist before. A missing file is no error."""
    place = locate_real_path(path)
    with place.directory:
        if place.missing:
            return
        with place.entered() as directory, suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(place.name, dir_fd=directory, follow_symlinks=False).st_mode):
                raise UnwritableError("it is a folder now")
            os.unlink(place.name, dir_fd=directory)


def _remove_empty(directory: int, name: str) -> None:
    try:
        os.rmdir(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise UnwritableError("a folder with files has taken its place; revert those first") from None
        raise

"""Replacing a file atomically: at any moment it holds the old content or the new one."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.files.location import check_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.workspace.files.location import Location

_OPEN_FILES = Path("/proc/self/fd")
_UNNAMED = getattr(os, "O_TMPFILE", 0) if _OPEN_FILES.is_dir() else 0


def replace(place: Location, data: bytes) -> None:
    """Put the bytes at a place, with the mode and owner of the file that was there."""
    with place.entered() as directory:
        exists = check_target(directory, place.name)
        old = os.stat(place.name, dir_fd=directory, follow_symlinks=False) if exists else None
        put(directory, place.name, data, old)


def put(
    directory: int, name: str, data: bytes, old: os.stat_result | None, permissions: int | None = None
) -> None:
    """Put the bytes at a name, in the stead of whatever is there, with the mode and owner of `old`."""
    mode = 0o666 if old is None and permissions is None else 0o600  # nobody reads it before its time
    with _temporary(directory, mode) as (file, name_it):
        _fill(file, data)
        if old is not None:
            _inherit(file, old)
        if permissions is not None:
            os.fchmod(file, permissions)
        os.fsync(file)
        os.rename(name_it(), name, src_dir_fd=directory, dst_dir_fd=directory)
    _sync(directory)


def put_link(directory: int, name: str, target: bytes) -> None:
    """Put a link at a name, in the stead of whatever is there."""
    temporary = _temporary_name()
    os.symlink(target, temporary, dir_fd=directory)
    try:
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(temporary, dir_fd=directory)
        raise


def _temporary_name() -> str:
    return f".acp-tui-{secrets.token_hex(8)}.tmp"


@contextmanager
def _temporary(directory: int, mode: int) -> Iterator[tuple[int, Callable[[], str]]]:
    """A new file in the directory, and how to give it the temporary name it is renamed from.

    Where the file system can, it has no name until it is complete, so that even a crash leaves nothing.
    """
    name = _temporary_name()
    flags = os.O_WRONLY | os.O_CLOEXEC
    file = -1
    if _UNNAMED:
        with suppress(OSError):
            file = os.open(".", flags | _UNNAMED, mode, dir_fd=directory)
    unnamed = file >= 0
    if not unnamed:
        file = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=directory)

    def name_it() -> str:
        if unnamed:
            os.link(_OPEN_FILES / str(file), name, dst_dir_fd=directory, follow_symlinks=True)
        return name

    try:
        yield file, name_it
    finally:
        os.close(file)
        with suppress(FileNotFoundError):  # it was renamed, or never had the name
            os.unlink(name, dir_fd=directory)


def _fill(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _inherit(file: int, old: os.stat_result) -> None:
    """The new file belongs to whom the old one did, as far as we may say so, and has its mode."""
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(file)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(file, old.st_uid, old.st_gid)
        except PermissionError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # these would now lend the rights of somebody else
    os.fchmod(file, mode)


def _sync(directory: int) -> None:
    """Make the rename last. The file is complete either way, so a file system that cannot is no error."""
    with suppress(OSError):
        file = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(file)
        finally:
            os.close(file)

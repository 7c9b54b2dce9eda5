"""Atomic file replacement: at any moment a file holds either its old or its new content."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.files.write_target import check_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.workspace.files.write_target import WriteTarget

_FD_DIRECTORY = Path("/proc/self/fd")
# Creates a file without a name. The file is linked through /proc, so the flag is useless without /proc.
_O_TMPFILE = getattr(os, "O_TMPFILE", 0) if _FD_DIRECTORY.is_dir() else 0


def write_atomically(target: WriteTarget, data: bytes) -> None:
    """Write a file. If the file exists already, keep its mode and owner."""
    with target.open_directory() as directory:
        exists = check_target(directory, target.name)
        old = os.stat(target.name, dir_fd=directory, follow_symlinks=False) if exists else None
        replace_file(directory, target.name, data, old)


def replace_file(
    directory: int, name: str, data: bytes, old: os.stat_result | None, permissions: int | None = None
) -> None:
    """Create a file, replacing any file or link of the same name.

    Args:
        directory: Descriptor of the open directory.
        name: Name of the file in the directory.
        data: The content.
        old: Status of the file whose mode and owner the new file gets; None if there is no such file.
        permissions: Permission bits that override those of `old`.
    """
    # Until the final mode is set, no other user may read the file.
    mode = 0o666 if old is None and permissions is None else 0o600
    with _temporary_file(directory, mode) as (file, link):
        _write_all(file, data)
        if old is not None:
            _copy_owner_and_mode(file, old)
        if permissions is not None:
            os.fchmod(file, permissions)
        os.fsync(file)
        os.rename(link(), name, src_dir_fd=directory, dst_dir_fd=directory)
    _sync(directory)


def replace_with_link(directory: int, name: str, target: bytes) -> None:
    """Create a symbolic link, replacing any file or link of the same name."""
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
def _temporary_file(directory: int, mode: int) -> Iterator[tuple[int, Callable[[], str]]]:
    """Create a file; yield its descriptor, and a function that returns the file's temporary name.

    If the file system supports unnamed files, the file has no name until that function is called, so that a
    crash leaves nothing behind.
    """
    name = _temporary_name()
    flags = os.O_WRONLY | os.O_CLOEXEC
    file = -1
    if _O_TMPFILE:
        with suppress(OSError):
            file = os.open(".", flags | _O_TMPFILE, mode, dir_fd=directory)
    unnamed = file >= 0
    if not unnamed:
        file = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=directory)

    def link() -> str:
        if unnamed:
            os.link(_FD_DIRECTORY / str(file), name, dst_dir_fd=directory, follow_symlinks=True)
        return name

    try:
        yield file, link
    finally:
        os.close(file)
        with suppress(FileNotFoundError):  # it was renamed, or never linked
            os.unlink(name, dir_fd=directory)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _copy_owner_and_mode(file: int, old: os.stat_result) -> None:
    """Give the file the mode of `old` and, if permitted, the owner and group of `old`.

    If the owner or group cannot be set, the set-user-ID and set-group-ID bits of the mode are left out.
    """
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(file)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(file, old.st_uid, old.st_gid)
        except PermissionError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # these would now grant another user's rights
    os.fchmod(file, mode)


def _sync(directory: int) -> None:
    """Make a rename in the directory durable. Failures are ignored: the file is complete either way."""
    with suppress(OSError):
        file = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(file)
        finally:
            os.close(file)

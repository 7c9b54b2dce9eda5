"""Finds where a file will be written, and keeps its directory open until the file is written.

Links are resolved here rather than by the kernel, because the file and some directories in its path may not
exist yet: the last name can be a link to a missing file. The innermost existing directory is kept open.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.workspace.files.descriptors import DIRECTORY_FLAGS, Descriptor, real_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAX_LINKS = 40  # the limit of the Linux kernel


class UnwritableError(Exception):
    """A file cannot be written. The message can follow "cannot be written: "."""


@dataclass(slots=True)
class WriteTarget:
    """A file to be written: an open directory, and the file's path relative to this directory."""

    directory: Descriptor  # the innermost directory that exists
    directory_path: Path  # its real path when it was found
    missing: list[str]  # directories to be created below it, outermost first
    name: str
    exists: bool

    @property
    def real(self) -> Path:
        """The real path of the file, without links."""
        return self.directory_path.joinpath(*self.missing, self.name)

    @property
    def new_directories(self) -> list[Path]:
        """The directories that writing will create, outermost first."""
        return [self.directory_path.joinpath(*self.missing[: end + 1]) for end in range(len(self.missing))]

    def open_file(self) -> Descriptor:
        """Open the file for reading. Raises `FileNotFoundError` if it does not exist."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with self.directory.borrow() as number:
            return Descriptor(os.open("/".join([*self.missing, self.name]), flags, dir_fd=number))

    @contextmanager
    def open_directory(self) -> Iterator[int]:
        """Yield the descriptor of the file's directory. Create missing directories.

        Raises `UnwritableError` if the directory has been moved: the descriptor still leads to the moved
        directory, but the user has allowed writing to the old path only.
        """
        with self.directory.borrow() as number:
            if real_path(number) != self.directory_path:
                raise UnwritableError("its directory was moved or deleted in the meantime")
            directory = os.dup(number)
        try:
            for name in self.missing:
                inner = _make_directory(directory, name)
                os.close(directory)
                directory = inner
            yield directory
        finally:
            os.close(directory)


def find_target(path: str) -> WriteTarget:
    """Return the target at an absolute path. Follows all links."""
    base, rest = Descriptor(os.open("/", DIRECTORY_FLAGS)), path
    for _ in range(_MAX_LINKS):
        *folders, name = rest.split("/")
        if name in ("", ".", ".."):
            raise UnwritableError("it is a directory")
        names = [folder for folder in folders if folder not in ("", ".")]
        directory, missing = _open_innermost(base, names)
        with directory.borrow() as number:
            target = None if missing else _read_link(number, name)
            if target is None:
                exists = not missing and check_target(number, name)
                return WriteTarget(directory, real_path(number), missing, name, exists)
        base = Descriptor(os.open("/", DIRECTORY_FLAGS)) if target.startswith("/") else directory
        rest = target
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def find_real_target(path: Path) -> WriteTarget:
    """Return the target at a path without links. Raises `UnwritableError` if a folder has become a link."""
    folders = list(path.parent.parts[1:])
    directory, missing = _open_innermost(Descriptor(os.open("/", DIRECTORY_FLAGS)), folders)
    with directory.borrow() as number:
        found = real_path(number)
    if found.joinpath(*missing) != path.parent:
        raise UnwritableError("a folder in its path is now a link")
    return WriteTarget(directory, found, missing, path.name, exists=not missing)


def check_target(directory: int, name: str) -> bool:
    """Return True if the file exists. Raises `UnwritableError` if it must not be replaced."""
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise UnwritableError("it is a directory")
    if stat.S_ISLNK(mode):
        raise UnwritableError("it was replaced by a link in the meantime")
    if not stat.S_ISREG(mode):
        raise UnwritableError("it is not a regular file")
    # Renaming over a file ignores the file's mode, and root may write any file: check the mode explicitly.
    if not mode & 0o222 or not os.access(name, os.W_OK, dir_fd=directory):
        raise UnwritableError("it is read-only")
    return True


def _open_innermost(base: Descriptor, folders: list[str]) -> tuple[Descriptor, list[str]]:
    """Open the innermost existing directory of a path below `base`. Also return the missing directories."""
    with base.borrow() as start:
        for count in range(len(folders), -1, -1):
            with suppress(FileNotFoundError):
                directory = Descriptor(
                    os.open("/".join(folders[:count]) or ".", DIRECTORY_FLAGS, dir_fd=start)
                )
                break
        else:
            raise UnwritableError("its directory was deleted in the meantime")
    missing = folders[count:]
    if ".." in missing:
        raise UnwritableError("its path uses .. in a directory that does not exist")
    if missing:
        with directory.borrow() as number:
            if _read_link(number, missing[0]) is not None:
                raise UnwritableError("a link in its path is broken")
    return directory, missing


def _read_link(directory: int, name: str) -> str | None:
    """Return the target of a link; None if no link has this name."""
    try:
        return os.readlink(name, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _make_directory(directory: int, name: str) -> int:
    """Create a directory unless it exists, and return its open descriptor. Does not follow links."""
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    return os.open(name, DIRECTORY_FLAGS | os.O_NOFOLLOW, dir_fd=directory)

"""Finding the place of a file that is to be written, and holding on to it.

Links are followed by hand, because the last name of a path may be a link to a file that does not exist
yet, and the directories before it may not exist either. What is held is the innermost one that does.
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

_MAX_LINKS = 40  # as the kernel has it


class UnwritableError(Exception):
    """Nothing can be written there: why, in words that follow the file's name."""


@dataclass(slots=True)
class Location:
    """A name in a directory that is held open."""

    directory: Descriptor  # the innermost directory that exists
    directory_path: Path  # where it really was when it was found
    missing: list[str]  # directories to be made below it, outermost first
    name: str
    exists: bool

    @property
    def real(self) -> Path:
        """The path of the file, free of links."""
        return self.directory_path.joinpath(*self.missing, self.name)

    @property
    def new_directories(self) -> list[Path]:
        """The directories that do not exist yet, outermost first."""
        return [self.directory_path.joinpath(*self.missing[: end + 1]) for end in range(len(self.missing))]

    def open_file(self) -> Descriptor:
        """The file as it is now, for reading."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with self.directory.borrow() as number:
            return Descriptor(os.open("/".join([*self.missing, self.name]), flags, dir_fd=number))

    @contextmanager
    def entered(self) -> Iterator[int]:
        """The directory of the file, made where it is missing, if it is still where it was found.

        A directory that was moved away meanwhile is followed by its descriptor: what was decided for
        the old place does not hold for the new one.
        """
        with self.directory.borrow() as number:
            if real_path(number) != self.directory_path:
                raise UnwritableError("its directory was moved or deleted in the meantime")
            directory = os.dup(number)
        try:
            for name in self.missing:
                inner = _made(directory, name)
                os.close(directory)
                directory = inner
            yield directory
        finally:
            os.close(directory)


def locate(path: str) -> Location:
    """The place an absolute path leads to, through all links."""
    base, rest = Descriptor(os.open("/", DIRECTORY_FLAGS)), path
    for _ in range(_MAX_LINKS):
        *folders, name = rest.split("/")
        if name in ("", ".", ".."):
            raise UnwritableError("it is a directory")
        directory, missing = _innermost(base, [folder for folder in folders if folder not in ("", ".")])
        with directory.borrow() as number:
            target = None if missing else _link(number, name)
            if target is None:
                exists = not missing and check_target(number, name)
                return Location(directory, real_path(number), missing, name, exists)
        base = Descriptor(os.open("/", DIRECTORY_FLAGS)) if target.startswith("/") else directory
        rest = target
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def locate_real_path(path: Path) -> Location:
    """The place of a real path: an error when a folder on it has become a link."""
    folders = list(path.parent.parts[1:])
    directory, missing = _innermost(Descriptor(os.open("/", DIRECTORY_FLAGS)), folders)
    with directory.borrow() as number:
        found = real_path(number)
    if found.joinpath(*missing) != path.parent:
        raise UnwritableError("a folder in its path is now a link")
    return Location(directory, found, missing, path.name, exists=not missing)


def check_target(directory: int, name: str) -> bool:
    """Does the file exist? `UnfitError` when what exists may not be replaced."""
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
    # The rename would pass over what the mode says, and so would root.
    if not mode & 0o222 or not os.access(name, os.W_OK, dir_fd=directory):
        raise UnwritableError("it is read-only")
    return True


def _innermost(base: Descriptor, folders: list[str]) -> tuple[Descriptor, list[str]]:
    """The innermost existing directory of a path below `base`, and the names that are missing there."""
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
            if _link(number, missing[0]) is not None:
                raise UnwritableError("a link in its path is broken")
    return directory, missing


def _link(directory: int, name: str) -> str | None:
    """Where a link leads; None when nothing of this name is a link."""
    try:
        return os.readlink(name, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _made(directory: int, name: str) -> int:
    """Make a directory, or take the one made meanwhile, and open it; never through a link."""
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    return os.open(name, DIRECTORY_FLAGS | os.O_NOFOLLOW, dir_fd=directory)

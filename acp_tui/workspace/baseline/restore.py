"""Restores files: writes the content that they had earlier, or removes them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from acp_tui.errors import UserError
from acp_tui.workspace.baseline.file_change import FileContent, NotCopiedError, read_content
from acp_tui.workspace.files.atomic_write import (
    UnwritableError,
    find_real_target,
    replace_file,
    replace_with_link,
)
from acp_tui.workspace.files.open_folder import describe

UNDO_CONDITION = "Put it back as the rewind left it, then undo again."


def restore(
    path: Path,
    data: bytes,
    mode: int,
    *,
    check: Callable[[], None] = lambda: None,
    is_new: bool = False,
) -> None:
    """Create or replace a file with the content `data`, or a link to `data` if `mode` is that of a link.

    Create missing folders. Remove a folder at the path; raise `UnwritableError` if the folder contains files.
    `check` and `is_new` are passed to `replace_file`.
    """
    target = find_real_target(path)
    with target.directory, target.open_directory() as directory:
        try:
            now = os.stat(target.name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            now = None
        if now is not None and stat.S_ISDIR(now.st_mode):
            _remove_empty_folder(directory, target.name)
            now = None
        if stat.S_ISLNK(mode):
            replace_with_link(directory, target.name, data, check=check, is_new=is_new)
        else:
            old = now if now is not None and stat.S_ISREG(now.st_mode) else None
            permissions = stat.S_IMODE(mode)
            replace_file(directory, target.name, data, old, permissions, check=check, is_new=is_new)


def remove(path: Path, check: Callable[[], None] = lambda: None) -> None:
    """Remove a file or link. If it is missing already, do nothing. `check` is called immediately before."""
    target = find_real_target(path)
    with target.directory:
        if target.missing:
            return
        with target.open_directory() as directory, suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(target.name, dir_fd=directory, follow_symlinks=False).st_mode):
                raise UnwritableError("it is a folder now")
            check()
            os.unlink(target.name, dir_fd=directory)


class ChangedMeanwhileError(Exception):
    """A file no longer has the expected content, or could not be read, so it was not replaced."""


class HeldFile:
    """A file that was replaced or removed, kept open for a while.

    A program that was about to save the file may still write to the replaced one.
    """

    def __init__(
        self, path: Path, wanted: FileContent | None, expected: FileContent | None, max_size: int
    ) -> None:
        self._path = path
        self._wanted = wanted
        self._expected = expected
        self._max_size = max_size
        self._file: BinaryIO | None = None
        if expected is not None and stat.S_ISREG(expected.mode):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with suppress(OSError):  # gone or unreadable: `check` says so
                self._file = open(os.open(path, flags), "rb", buffering=0)  # noqa: SIM115  # until `release`

    def check(self) -> None:
        """Raise `ChangedMeanwhileError` if the file at the path is not as expected, or was replaced."""
        try:
            now = read_content(bytes(self._path), self._max_size)
        except NotCopiedError as error:
            raise ChangedMeanwhileError from error
        if now != self._expected:
            raise ChangedMeanwhileError
        if self._file is not None:
            try:
                is_same = os.path.samestat(os.lstat(self._path), os.fstat(self._file.fileno()))
            except OSError as error:
                raise ChangedMeanwhileError from error
            if not is_same:
                raise ChangedMeanwhileError

    def release(self) -> None:
        """Close the file. Raises `ChangedMeanwhileError` if it was written to since it was replaced.

        Then what was written is put back at the path, unless there is something else by now.
        """
        if self._file is None or self._expected is None:
            return
        with self._file as file:
            file.seek(0)
            written = file.read(self._max_size + 1)
        if written == self._expected.data:
            return
        with suppress(NotCopiedError):
            if read_content(bytes(self._path), self._max_size) == self._wanted:
                restore(self._path, written, self._expected.mode)
        raise ChangedMeanwhileError

    def close(self) -> None:
        """Close the file, whatever was written to it."""
        if self._file is not None:
            self._file.close()


def replace_if_unchanged(
    path: Path, wanted: FileContent | None, expected: FileContent | None, max_size: int
) -> HeldFile:
    """Replace the `expected` content of a file or link by `wanted`. None stands for no file.

    Return the replaced file, which the caller releases once the decision is recorded. Raises
    `ChangedMeanwhileError` if the current content is not `expected` or cannot be read. At any moment the path
    holds either the expected or the wanted content.
    """
    held = HeldFile(path, wanted, expected, max_size)
    try:
        held.check()
        if wanted is None:
            remove(path, held.check)
        else:
            restore(path, wanted.data, wanted.mode, check=held.check, is_new=expected is None)
    except FileExistsError as error:
        held.close()
        raise ChangedMeanwhileError from error
    except BaseException:
        held.close()
        raise
    return held


def _remove_empty_folder(directory: int, name: str) -> None:
    """Remove a folder without files, and its subfolders. Raises `UnwritableError` if there are files."""
    if any(_has_files(folder) for folder in os.fwalk(name, dir_fd=directory)):
        raise UnwritableError("it is now a folder that contains files; revert those files first")
    try:
        for _, folders, _, descriptor in os.fwalk(name, topdown=False, dir_fd=directory):
            for folder in folders:
                os.rmdir(folder, dir_fd=descriptor)
        os.rmdir(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise UnwritableError("files were added to the folder that is now in its place") from None
        raise


def _has_files(folder: tuple[str, list[str], list[str], int]) -> bool:
    """Return True if a folder yielded by `os.fwalk` contains files or links, including links to folders."""
    _, folders, files, descriptor = folder
    links = (stat.S_ISLNK(os.lstat(each, dir_fd=descriptor).st_mode) for each in folders)
    return bool(files) or any(links)


@dataclass(frozen=True, slots=True)
class ReplacedFile:
    """The content of a file `before` and `after` the rewind; None if there was no file."""

    path: Path
    before: FileContent | None
    after: FileContent | None

    @property
    def size(self) -> int:
        """The size of `before` and `after` together, in bytes."""
        return sum(len(content.data) for content in (self.before, self.after) if content is not None)


def put_back(files: Sequence[ReplacedFile], max_size: int) -> list[Path]:
    """Restore the files as they were before the rewind. Return the paths of those that had to be restored.

    Raises `UserError`, before anything is restored, if a file is neither as before nor as after the rewind.
    Files that are unreadable or larger than `max_size` bytes count as such.

    Also raises `UserError` if a file changes meanwhile or cannot be restored. By then, other files may have
    been restored.
    """
    replaced = [file for file in files if not _is_put_back(file, max_size)]
    # Files that the rewind created are removed first: they may have replaced folders of other files.
    for file in sorted(replaced, key=lambda each: each.before is not None):
        try:
            replace_if_unchanged(file.path, file.before, file.after, max_size).release()
        except ChangedMeanwhileError:
            raise _changed(file) from None
        except UnwritableError as error:
            raise UserError(f"{file.path} cannot be restored: {error}.") from None
        except OSError as error:
            raise UserError(f"{file.path} cannot be restored: {describe(error)}.") from None
    return [file.path for file in replaced]


def _is_put_back(file: ReplacedFile, max_size: int) -> bool:
    try:
        now = read_content(bytes(file.path), max_size)
    except NotCopiedError:
        raise _changed(file) from None
    if now not in (file.before, file.after):
        raise _changed(file)
    return now == file.before


def _changed(file: ReplacedFile) -> UserError:
    return UserError(f"The rewind cannot be undone: {file.path} has changed since. {UNDO_CONDITION}")

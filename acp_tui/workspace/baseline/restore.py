"""Restores files: writes the content that they had earlier, or removes them."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from acp_tui.workspace.baseline.file_content import NotCopiedError, read_content
from acp_tui.workspace.files.atomic_write import replace_file, replace_with_link
from acp_tui.workspace.files.write_target import UnwritableError, find_real_target

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.workspace.baseline.file_content import FileContent


def restore(path: Path, data: bytes, mode: int) -> None:
    """Create or replace a file with the content `data`, or a link to `data` if `mode` is that of a link.

    Create missing folders. Remove a folder at the path; raise `UnwritableError` if the folder contains files.
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
            replace_with_link(directory, target.name, data)
        else:
            old = now if now is not None and stat.S_ISREG(now.st_mode) else None
            replace_file(directory, target.name, data, old, stat.S_IMODE(mode))


def remove(path: Path) -> None:
    """Remove a file or link. If it is missing already, do nothing."""
    target = find_real_target(path)
    with target.directory:
        if target.missing:
            return
        with target.open_directory() as directory, suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(target.name, dir_fd=directory, follow_symlinks=False).st_mode):
                raise UnwritableError("it is a folder now")
            os.unlink(target.name, dir_fd=directory)


class ChangedMeanwhileError(Exception):
    """A file no longer has the expected content, or could not be read, so it was not replaced."""


def replace_if_unchanged(
    path: Path, wanted: FileContent | None, expected: FileContent | None, max_size: int
) -> None:
    """Replace the `expected` content of a file or link by `wanted`. None stands for no file.

    Raises `ChangedMeanwhileError` if the current content is not `expected` or cannot be read. At any moment
    the path holds either the expected or the wanted content.
    """
    try:
        now = read_content(bytes(path), max_size)
    except NotCopiedError as error:
        raise ChangedMeanwhileError from error
    if now != expected:
        raise ChangedMeanwhileError
    if wanted is None:
        remove(path)
    else:
        restore(path, wanted.data, wanted.mode)


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

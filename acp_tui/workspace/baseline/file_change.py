"""The change of a file since the session began, and the state of a file at one moment."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from acp_tui.workspace.git.git_commands import GIT_TIMEOUT_SECONDS

ChangeKind = Literal["added", "modified", "deleted", "mode", "unknown"]
"""`mode`: only the executable bit changed.

`unknown`: the file was written during the session; whether it existed before is unknown.
"""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A difference between the baseline and the disk. The path is not safe to display."""

    path: Path
    kind: ChangeKind
    revert_obstacle: str | None = None
    """Why the change cannot be reverted: a clause to follow "cannot be reverted: "; None if it can be."""

    @property
    def revertable(self) -> bool:
        return self.revert_obstacle is None


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a path at one moment: when the session began, or at a checkpoint."""

    existed: bool
    blob: str | None = None  # the git object id of the content; the content of a link is its target
    mode: int = 0  # including the file type; 0 if unknown
    revert_obstacle: str | None = None  # why the content is unknown, for a file that existed

    def same_content(self, other: FileState) -> bool:
        """Return True if both states are known and have the same content and mode."""
        if self.revert_obstacle is not None or other.revert_obstacle is not None:
            return False
        return (self.existed, self.blob, self.mode) == (other.existed, other.blob, other.mode)


UNKNOWN_STATE = FileState(existed=True, revert_obstacle="it is not part of the snapshot")


class NotCopiedError(Exception):
    """A file exists but cannot be copied. The message is the reason."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a regular file or a link."""

    data: bytes  # for a link, its target
    mode: int  # including the file type; without permissions for a link, as in git


def read_content(path: bytes, max_size: int) -> FileContent | None:
    """Return the content of a file or link; None if the path does not exist or is a folder.

    Raises `NotCopiedError` for a file that is larger than `max_size` bytes or unreadable, and for a special
    file such as a pipe.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(path)  # noqa: PTH115 - names need not be UTF-8
            return FileContent(os.fsencode(target), stat.S_IFLNK)
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise NotCopiedError("it is not a regular file")
        return _read(path, max_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotCopiedError(f"it could not be read ({error.strerror})") from None


def _read(path: bytes, max_size: int) -> FileContent:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotCopiedError("it is not a regular file")
        data = file.read(max_size + 1) if status.st_size <= max_size else b""
        if max(len(data), status.st_size) > max_size:
            raise NotCopiedError(f"it was larger than {max_size / 1_000_000:g} MB")
        return FileContent(data, status.st_mode)


def signature(path: bytes) -> tuple[int, ...] | None:
    """Return a value to detect changes of a file: inode, mode, size and times. None if they cannot be read.

    The content of the file is not read.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class LimitExceededError(Exception):
    """The folder has more files or bytes than a snapshot may contain."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a snapshot. Sizes are in bytes."""

    file_size: int = 5_000_000
    files: int = 100_000
    total_size: int = 2_000_000_000
    untracked_files: int = 5_000  # in a repository
    untracked_size: int = 100_000_000
    listing_seconds: float = 30.0  # git walks the whole folder before it prints anything
    git_seconds: float = GIT_TIMEOUT_SECONDS  # for any other command


@dataclass(slots=True)
class Totals:
    """The number of files counted so far in all folders, and the total size of those that were copied."""

    files: int = 0
    size: int = 0

    def count(self, size: int, limits: Limits) -> None:
        """Count a file of `size` bytes. Raises `LimitExceededError` if the total size exceeds its limit."""
        self.files += 1
        self.size += size
        if self.size > limits.total_size:
            raise LimitExceededError(f"more than {limits.total_size / 1_000_000_000:g} GB")

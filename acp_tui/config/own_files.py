"""Opens the files that acp-tui keeps in its own directories. No other module opens them.

Only regular files up to a limit are opened: a pipe would block, a device may have side effects, and a huge
file would fill the memory. Any other file raises `UnusableFileError`, and the program names it when it ends.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

MAX_BYTES = 100_000_000
"""The maximum size of a file that is read at once. Only a long draft or rewind makes one larger than 1 MB."""
MAX_RECORDING_BYTES = 1_000_000_000
"""The maximum size of a recording, which is read in parts. By default, recording stops at a tenth of it."""
MAX_RECORDED_BYTES = MAX_RECORDING_BYTES - 10_000_000
"""Where recording stops at the latest, so that the last records leave the recording readable."""
_ALWAYS = os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK  # opening a pipe would block otherwise
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a named pipe"),
    (stat.S_ISSOCK, "is a socket"),
)
_met: dict[str, str] = {}
MAX_SETTINGS_BYTES = 1_000_000


class UnusableFileError(OSError):
    """A file of acp-tui is not a regular file, or is too large. The error message is a clause: "it is …"."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.EINVAL, f"it {what}", str(path))
        self.clause = f"{path.name} {what}"
        self.sentence = f"{path} {what}, so it is not used."


def open_own(path: Path, flags: int, max_bytes: int | None = None) -> int:
    """Open a file of acp-tui and return the descriptor. A file that is created can be used only by the user.

    Raises `UnusableFileError` if the file is not a regular file or has more than `max_bytes`, and another
    `OSError` if it cannot be opened.
    """
    check_own(path, max_bytes)  # before opening: that can have side effects
    try:
        descriptor = os.open(path, flags | _ALWAYS, 0o600)
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.ENXIO):  # replaced meanwhile
            raise _unusable(path, "is not a regular file") from None
        raise
    try:
        _check(path, os.fstat(descriptor), max_bytes)
    except UnusableFileError:
        os.close(descriptor)
        raise
    return descriptor


def read_own(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file of acp-tui. Raises `UnusableFileError` and other `OSError`s."""
    with open(open_own(path, os.O_RDONLY, max_bytes), "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:  # it grew meanwhile
        raise _unusable(path, _too_large(max_bytes))
    return data


def read_own_json(path: Path) -> Any:
    """Return the value in a JSON file of acp-tui. Raises `OSError`, `ValueError` and `RecursionError`."""
    return json.loads(read_own(path))


def read_own_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of acp-tui; empty if the file is missing, unusable or damaged."""
    try:
        content = read_own_json(path)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def check_own(path: Path, max_bytes: int | None = None) -> None:
    """Raise `UnusableFileError` if there is a file that `open_own` would refuse."""
    try:
        status = path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unusable(path, "is a link to itself") from None
        return  # `os.open` says why
    _check(path, status, max_bytes)


def unusable_files() -> dict[str, str]:
    """Return a sentence for the path of each file that could not be used since the start or the last call."""
    found = dict(_met)
    _met.clear()
    return found


def _check(path: Path, status: os.stat_result, max_bytes: int | None) -> None:
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        raise _unusable(path, next((what for is_kind, what in _KINDS if is_kind(mode)), "is a device"))
    if max_bytes is not None and status.st_size > max_bytes:
        raise _unusable(path, _too_large(max_bytes))


def _too_large(max_bytes: int) -> str:
    return f"is larger than {max_bytes // 1_000_000:,} MB"


def _unusable(path: Path, what: str) -> UnusableFileError:
    error = UnusableFileError(path, what)
    _met[str(path)] = error.sentence
    return error


class FileTooLargeError(OSError):
    """A file that has more than `MAX_SETTINGS_BYTES`."""

    def __init__(self) -> None:
        super().__init__(None, f"larger than {MAX_SETTINGS_BYTES // 1_000_000} MB")


def read_small_file(file: Path) -> bytes | None:
    """Return the content of a regular file; None if the file is missing, a pipe or a device.

    Raises `FileTooLargeError` if the file has more than `MAX_SETTINGS_BYTES`, `OSError` if it is unreadable.
    """
    try:
        descriptor = os.open(file, _ALWAYS)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        # `open` would raise the same error, but leave the descriptor open.
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    with open(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read(opened)


def read_small_file_inside(folder: Path, name: str) -> bytes | None:
    """Return the content of a regular file in a folder; None if there is no file.

    Raises `OSError` for anything else, such as a device or a link that leads out of the folder.
    """
    real = _resolved(folder / name)
    if not real.is_relative_to(_resolved(folder)):
        raise OSError(None, "it is a link that leads out of the folder")
    try:
        if not stat.S_ISREG(real.stat().st_mode):  # opening a device may have side effects
            raise OSError(None, "it is not a regular file")
        descriptor = os.open(real, _ALWAYS | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(descriptor, "rb") as opened:
        # A part of the path may have been replaced by a link since the path was resolved.
        if not os.path.samestat(os.fstat(descriptor), real.stat()) or _resolved(real) != real:
            raise OSError(None, "it is being replaced")
        return _read(opened)


def _resolved(path: Path) -> Path:
    """Return the real path. Raises no `RuntimeError` for a loop of links, unlike `Path.resolve`."""
    return type(path)(os.path.realpath(path))


def _read(opened: BinaryIO) -> bytes:
    data = opened.read(MAX_SETTINGS_BYTES + 1)
    if len(data) > MAX_SETTINGS_BYTES:
        raise FileTooLargeError
    return data

"""The permission bits of files. Git stores only the executable bit."""

from __future__ import annotations

import os
import stat
from typing import Any


class FileModes:
    """Remembers the permission bits of files, so that deleted files can be restored with the same bits."""

    def __init__(self) -> None:
        self._usual: dict[bool, int] = {}  # the first mode found, by whether the file is executable
        self._unusual: dict[bytes, int] = {}

    def remember(self, name: bytes, mode: int) -> None:
        """Remember the `st_mode` of a file."""
        if stat.S_ISREG(mode) and self._usual.setdefault(bool(mode & stat.S_IXUSR), mode) != mode:
            self._unusual[name] = mode

    def forget(self, name: bytes) -> None:
        """Forget the mode of a file, which gets the usual one."""
        self._unusual.pop(name, None)

    def to_json(self) -> dict[str, Any]:
        """Return the modes as a value that can be saved."""
        return {
            "usual": {str(int(executable)): mode for executable, mode in self._usual.items()},
            "unusual": {os.fsdecode(name): mode for name, mode in self._unusual.items()},
        }

    @classmethod
    def from_json(cls, value: Any) -> FileModes:
        """Return saved modes. Raises `KeyError`, `TypeError` or `ValueError` if they are damaged."""
        modes = cls()
        modes._usual = {key == "1": int(mode) for key, mode in value["usual"].items()}
        modes._unusual = {os.fsencode(name): int(mode) for name, mode in value["unusual"].items()}
        return modes

    def full_mode(self, name: bytes, mode: int) -> int:
        """Return the remembered `st_mode` of a file. `mode` is the mode that git stores for the file."""
        if not stat.S_ISREG(mode):
            return mode
        return self._unusual.get(name) or self._usual.get(bool(mode & stat.S_IXUSR), mode)


def git_mode(mode: int) -> int:
    """Return the mode that git stores for a file with this `st_mode`."""
    if stat.S_ISLNK(mode):
        return 0o120000
    return 0o100755 if mode & stat.S_IXUSR else 0o100644

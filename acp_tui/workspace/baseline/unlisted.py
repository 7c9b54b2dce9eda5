"""What exists in a work tree although git lists it nowhere.

`git ls-files` passes over folders that it cannot read, over pipes, sockets and devices, and over every
`.git`, and still succeeds. A file at such a place must not be taken for a new one later: reverting it would
delete it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

GIT_DIRECTORY = b".git"
IGNORE_FILE, ATTRIBUTES_FILE = b".gitignore", b".gitattributes"
CONTROL_FILES = (IGNORE_FILE, ATTRIBUTES_FILE)
"""Files of the work tree that git opens by itself. It waits for ever where one of them is a pipe."""
WHOLE_FOLDER = b""
"""Stands for the whole folder, where that itself cannot be read."""


def find_unlisted(top: bytes, folder: bytes, listed: AbstractSet[bytes]) -> set[bytes]:
    """Return the names below `folder` that exist and are not among those `listed`; blocks.

    Names are relative to `top`, and those of folders end with a slash. Listed folders and git directories are
    not entered. A folder that cannot be read is returned itself.
    """
    found: set[bytes] = set()
    waiting = [folder]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(os.path.join(top, below)) as entries:  # noqa: PTH118 - names need not be UTF-8
                for entry in entries:
                    name = below + entry.name
                    if entry.name == GIT_DIRECTORY:
                        continue
                    if not entry.is_dir(follow_symlinks=False):
                        if name not in listed:
                            found.add(name)
                    elif (name := name + b"/") not in listed:
                        waiting.append(name)
        except FileNotFoundError:
            continue
        except OSError:
            found.add(below)
    return found


def special_control_files(
    top: bytes,
    folder: bytes,
    *,
    not_entered: AbstractSet[bytes] = frozenset({GIT_DIRECTORY}),
    ignored: AbstractSet[bytes] = frozenset(),
) -> set[bytes]:
    """Return which of `CONTROL_FILES` are no regular file, below `folder` or between it and `top`; blocks.

    Folders are passed over when `not_entered` holds their own name, or `ignored` their name relative to `top`
    with a slash at the end.
    """
    parents = [folder[:end] for end in range(len(folder)) if end == 0 or folder[end - 1 : end] == b"/"]
    found = {name for name in CONTROL_FILES for parent in parents if _is_special(top, parent + name)}
    waiting = [folder]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(os.path.join(top, below)) as entries:  # noqa: PTH118 - names need not be UTF-8
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        name = below + entry.name + b"/"
                        if entry.name not in not_entered and name not in ignored:
                            waiting.append(name)
                    elif entry.name in CONTROL_FILES and not entry.is_file():
                        found.add(entry.name)
        except OSError:
            continue
    return found


def _is_special(top: bytes, name: bytes) -> bool:
    path = os.path.join(top, name)  # noqa: PTH118 - names need not be UTF-8
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113

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
EVERYTHING = b""
"""Stands for the whole folder, where that itself cannot be read."""


def unlisted(top: bytes, folder: bytes, listed: AbstractSet[bytes]) -> set[bytes]:
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

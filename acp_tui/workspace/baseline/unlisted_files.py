"""Files that git does not list in a work tree.

`git ls-files` skips unreadable folders, pipes, sockets, devices and every `.git`, and still succeeds. Skipped
files must not count as new when git lists them later: reverting a new file deletes it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.workspace.git.git_commands import GIT_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

IGNORE_FILE, ATTRIBUTES_FILE = b".gitignore", b".gitattributes"
CONTROL_FILES = (IGNORE_FILE, ATTRIBUTES_FILE)
"""Files of the work tree that git reads by itself. If one of them is a pipe, git blocks forever."""
WHOLE_FOLDER = b""
"""The name of the top folder relative to itself. `find_unlisted` returns it if that folder is unreadable."""


def find_unlisted(top: bytes, folder: bytes, listed: AbstractSet[bytes]) -> set[bytes]:
    """Return the names of all files below `folder`, without the names in `listed`. Blocks.

    All names are relative to `top`; names of folders end with a slash. Listed folders and git directories are
    skipped. If a folder cannot be read, its own name is in the result.
    """
    found: set[bytes] = set()
    stack = [folder]
    while stack:
        below = stack.pop()
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
                        stack.append(name)
        except FileNotFoundError:
            continue
        except OSError:
            found.add(below)
    return found


class ControlFilesFound(NamedTuple):
    """The result of `find_control_files`."""

    special: set[bytes]
    """Those names in `CONTROL_FILES` that belong to a pipe or another special file."""
    attributes: set[bytes]
    """The paths of all `.gitattributes` files, relative to the top of the work tree.

    For folders above the searched one, the path is included whether or not the file exists.
    """


def find_control_files(
    top: bytes,
    folder: bytes,
    *,
    skipped_names: AbstractSet[bytes] = frozenset({GIT_DIRECTORY}),
    skipped_paths: AbstractSet[bytes] = frozenset(),
) -> ControlFilesFound:
    """Find the `.gitattributes` files of a work tree, and special files that git would read. Blocks.

    Searches `folder`, everything below `folder`, and the parents of `folder` up to and including `top`.
    `skipped_names` are names of folders to skip; `skipped_paths` are paths of folders to skip, relative to
    `top` and with a slash at the end.
    """
    parents = [folder[:end] for end in range(len(folder)) if end == 0 or folder[end - 1 : end] == b"/"]
    special = {name for name in CONTROL_FILES for parent in parents if _is_special(top, parent + name)}
    attributes = {parent + ATTRIBUTES_FILE for parent in parents}
    stack = [folder]
    while stack:
        below = stack.pop()
        try:
            with os.scandir(os.path.join(top, below)) as entries:  # noqa: PTH118 - names need not be UTF-8
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        name = below + entry.name + b"/"
                        if entry.name not in skipped_names and name not in skipped_paths:
                            stack.append(name)
                    elif entry.name in CONTROL_FILES:
                        if not entry.is_file():
                            special.add(entry.name)
                        elif entry.name == ATTRIBUTES_FILE:
                            attributes.add(below + entry.name)
        except OSError:
            continue
    return ControlFilesFound(special, attributes)


def _is_special(top: bytes, name: bytes) -> bool:
    path = os.path.join(top, name)  # noqa: PTH118 - names need not be UTF-8
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113

"""The folders an agent was given: the working directory and the additional ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.errors import Refusal, UserError
from acp_tui.workspace.files.descriptors import DIRECTORY_FLAGS, real_path
from acp_tui.workspace.files.errors import INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Roots:
    """The folders, resolved once: a link to one of them that is changed later changes nothing here."""

    def __init__(self, cwd: Path, additional: Sequence[Path] = ()) -> None:
        self.cwd = _resolved(cwd)
        found = dict.fromkeys([self.cwd, *(_resolved(directory) for directory in additional)])
        self.directories: tuple[Path, ...] = tuple(found)
        """All of them, the working directory first."""

    def contains(self, real: Path) -> bool:
        """Is this real path, free of links and `..`, a root or below one?"""
        return any(real.is_relative_to(directory) for directory in self.directories)


def require_absolute(path: str) -> str:
    """The path as it is, or a refusal when it cannot be one: the protocol wants absolute paths."""
    if not path.startswith("/"):
        raise Refusal(INVALID_PARAMS, f"{path!r} is not an absolute path", {"path": path})
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise Refusal(INVALID_PARAMS, f"{path!r} is not a valid file name", {"path": path})
    return path


def _resolved(directory: Path) -> Path:
    try:
        descriptor = os.open(directory, DIRECTORY_FLAGS)
    except FileNotFoundError:
        raise UserError(f"The folder {directory} does not exist.") from None
    except NotADirectoryError:
        raise UserError(f"{directory} is not a folder.") from None
    except OSError as error:
        raise UserError(f"The folder {directory} cannot be opened: {error.strerror}.") from None
    try:
        return real_path(descriptor)
    finally:
        os.close(descriptor)

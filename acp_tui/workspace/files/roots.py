"""The roots of the workspace: the working directory and the additional directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.errors import Refusal, UserError
from acp_tui.session.error_codes import INVALID_PARAMS
from acp_tui.workspace.files.descriptors import DIRECTORY_FLAGS, real_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Roots:
    """The root directories. Links in their paths are resolved once: replacing a link later has no effect."""

    def __init__(self, cwd: Path, additional: Sequence[Path] = ()) -> None:
        self.cwd = _resolved(cwd)
        found = dict.fromkeys([self.cwd, *(_resolved(directory) for directory in additional)])
        self.directories: tuple[Path, ...] = tuple(found)
        """All roots, the working directory first."""

    def contains(self, real: Path) -> bool:
        """Return True if `real`, a path without links and `..`, is a root or below a root."""
        return any(real.is_relative_to(directory) for directory in self.directories)


def require_absolute(path: str) -> str:
    """Return the path unchanged. Raises `Refusal` if the path is invalid or relative.

    ACP requires absolute paths.
    """
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

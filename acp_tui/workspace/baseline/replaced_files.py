"""The files that a rewind replaced, with their contents before and after the rewind.

These contents are enough to undo the rewind without the baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.workspace.baseline.file_content import NotCopiedError, read_content
from acp_tui.workspace.baseline.restore import ChangedMeanwhileError, replace_if_unchanged
from acp_tui.workspace.files.refusals import describe
from acp_tui.workspace.files.write_target import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acp_tui.workspace.baseline.file_content import FileContent


UNDO_CONDITION = "Put it back as the rewind left it, then undo again."


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

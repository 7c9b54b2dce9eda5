"""The change of a file since the session began, and its original state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

ChangeKind = Literal["added", "modified", "deleted", "mode", "unknown"]
"""`mode`: only the executable bit changed.

`unknown`: the file was written during the session; whether it existed before is unknown."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A difference between the baseline and the disk. The path is not safe to display."""

    path: Path
    kind: ChangeKind
    revert_obstacle: str | None = None
    """Why the change cannot be reverted, in words that follow "cannot be reverted: "; None if it can."""

    @property
    def revertable(self) -> bool:
        """Whether the change can be reverted."""
        return self.revert_obstacle is None


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The state of a path when the session began, or when it was copied."""

    existed: bool
    blob: str | None = None  # git's name of the content; for a link, of its target
    mode: int = 0  # including the file type; 0 if unknown
    revert_obstacle: str | None = None  # why the content is unknown, for a file that existed

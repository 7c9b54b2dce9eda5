"""The change of a file since the session began, and the state of a file at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

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
        """Whether the change can be reverted."""
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

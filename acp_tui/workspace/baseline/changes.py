"""A file that changed since the session began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

ChangeKind = Literal["added", "modified", "deleted", "mode", "unknown"]
"""`mode`: the content is the same, only the executable bit changed.

`unknown`: it was written during the session; whether it existed before is unknown."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change between the baseline and now. Names are as the disk has them: make them safe to display."""

    path: Path
    kind: ChangeKind
    revert_obstacle: str | None = None
    """Why it cannot be reverted, in words that follow "cannot be reverted: "; None when it can."""

    @property
    def revertable(self) -> bool:
        """Whether the change can be reverted."""
        return self.revert_obstacle is None


@dataclass(frozen=True, slots=True)
class OriginalState:
    """The state of a path when the session began, or when it was copied."""

    existed: bool
    blob: str | None = None  # the name of its content, or of a link's target
    mode: int = 0  # with the bits of the file's type; 0 when it is not known
    revert_obstacle: str | None = None  # it existed, and its content is not known

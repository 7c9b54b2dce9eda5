"""One file that is not as it was when the session began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

ChangeKind = Literal["added", "modified", "deleted", "mode", "unknown"]
"""`mode`: the content is the same, the file became executable or ceased to be.

`unknown`: it was written during the session, and nobody knows whether it existed before."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change between the baseline and now. Names are as the disk has them: make them safe to display."""

    path: Path
    kind: ChangeKind
    revert_obstacle: str | None = None
    """Why it cannot be reverted, in words that follow "cannot be reverted: "; None when it can."""

    @property
    def revertable(self) -> bool:
        """Can it be put back as it was?"""
        return self.revert_obstacle is None


@dataclass(frozen=True, slots=True)
class OriginalState:
    """What was known of a path when the session began, or when it was kept."""

    existed: bool
    blob: str | None = None  # the name of its content, or of a link's target
    mode: int = 0  # with the bits of the file's type; 0 when it is not known
    revert_obstacle: str | None = None  # it existed, and its content is not known

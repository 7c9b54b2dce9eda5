"""One changed file, and the parts of its change that are accepted or reverted one by one."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from acp_tui.review.text_change import TextChange, is_text, join_lines

if TYPE_CHECKING:
    from pathlib import Path

FileKind = Literal["added", "modified", "deleted", "mode", "unknown"]
PartKind = Literal["hunk", "mode", "whole"]

EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A version of a file.

    If the content is unknown, `data` is None and `obstacle` says why. If there was no file, `data`
    and `obstacle` are None.
    """

    data: bytes | None = None  # for a link, its target
    mode: int = 0  # including the file type
    obstacle: str | None = None  # why the content is not known
    fingerprint: tuple[int, ...] | None = None  # distinguishes unknown contents

    @property
    def exists(self) -> bool:
        """Whether the file existed in this version."""
        return self.data is not None or self.obstacle is not None

    @property
    def is_text(self) -> bool:
        """True for a text file whose content is known, and also if the file did not exist."""
        if not self.exists:
            return True
        return self.data is not None and stat.S_ISREG(self.mode) and is_text(self.data)

    @property
    def executable(self) -> bool:
        """Whether this version is a regular file that its owner may run."""
        return stat.S_ISREG(self.mode) and bool(self.mode & stat.S_IXUSR)

    def same(self, other: FileVersion) -> bool:
        """Return True if the versions do not differ in anything that can be reviewed."""
        return (
            (self.data, self.obstacle, self.fingerprint) == (other.data, other.obstacle, other.fingerprint)
            and stat.S_IFMT(self.mode) == stat.S_IFMT(other.mode)
            and self.executable == other.executable
        )


ABSENT = FileVersion()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a change: a hunk by its number, the executable bit, or everything."""

    kind: PartKind
    hunk: int = 0


WHOLE, MODE = Part("whole"), Part("mode")


@dataclass(frozen=True)
class ChangedFile:
    """A file and its accepted version, which at first is the version in the baseline."""

    path: Path
    old: FileVersion
    now: FileVersion
    text: TextChange | None = None  # None if one side is not a text
    authors: int = 0  # see `authorship`; 0 if unknown
    obstacle: str | None = None
    """Why the file cannot be reverted: a clause to follow "cannot be reverted: "; None if it can be."""

    @classmethod
    def between(
        cls, path: Path, old: FileVersion, now: FileVersion, *, authors: int = 0, obstacle: str | None = None
    ) -> ChangedFile:
        """Return the change between two versions of a file."""
        text = None
        if old.is_text and now.is_text and (old.data != now.data):
            text = TextChange.between(old.data or b"", now.data or b"")
        return cls(path, old, now, text, authors, obstacle)

    @property
    def kind(self) -> FileKind:
        """How the file changed."""
        if self.old.obstacle is not None:
            return "unknown"
        if not self.old.exists:
            return "added"
        if not self.now.exists:
            return "deleted"
        return "mode" if self.old.data == self.now.data and self._same_type else "modified"

    @property
    def done(self) -> bool:
        """True if nothing is left to accept or revert."""
        return self.old.same(self.now)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The remaining parts to accept or revert, in the order of the lines."""
        if self.done:
            return ()
        if not (self.old.exists and self.now.exists and self._same_type):
            return (WHOLE,)
        if self.text is None and self.old.data != self.now.data:
            return (WHOLE,)
        if self.old.obstacle is not None or self.now.obstacle is not None:
            return (WHOLE,)
        hunks = range(len(self.text.hunks)) if self.text is not None else range(0)
        mode = [MODE] if self.old.executable != self.now.executable else []
        return (*mode, *(Part("hunk", number) for number in hunks))

    @property
    def _same_type(self) -> bool:
        return stat.S_IFMT(self.old.mode) == stat.S_IFMT(self.now.mode)

    def authors_of(self, part: Part) -> int:
        """Return the authors of a part as bits, see `authorship`; 0 if the authors are unknown."""
        if part.kind == "hunk" and self.text is not None:
            return self.text.authors_of(part.hunk)
        return self.authors

    def find(self, other: ChangedFile, part: Part) -> Part | None:
        """Return the part that corresponds to a part of another version of this change, or None.

        The hunks of the two versions may have different numbers.
        """
        if part.kind == "hunk" and (self.old, self.now) != (other.old, other.now):
            number = self.text.find(other.text, part.hunk) if self.text and other.text else None
            if number is None:
                return None
            part = Part("hunk", number)
        return part if part in self.parts else None

    def accept(self, part: Part) -> ChangedFile:
        """Return the remaining change after a part was accepted."""
        if part.kind == "hunk" and self.text is not None:
            text = self.text.accept(part.hunk)
            return replace(self, old=replace(self.old, data=join_lines(text.old)), text=text)
        if part.kind == "mode":
            return replace(self, old=replace(self.old, mode=self.now.mode))
        return replace(self, old=self.now, text=None)

    def revert(self, part: Part) -> ChangedFile:
        """Return the remaining change after a part was reverted. The file on disk is not changed."""
        if part.kind == "hunk" and self.text is not None:
            text = self.text.revert(part.hunk)
            return replace(self, now=replace(self.now, data=join_lines(text.new)), text=text)
        if part.kind == "mode":
            return replace(self, now=replace(self.now, mode=self._restored_mode()))
        return replace(self, now=self.old, text=None)

    def _restored_mode(self) -> int:
        """Return the current mode, with execute permission if and only if the old version was executable.

        The permission is given to all who may read the file.
        """
        if not self.old.executable:
            return self.now.mode & ~EXECUTABLE
        return self.now.mode | (self.now.mode >> 2 & EXECUTABLE)

    def revert_obstacle(self) -> str | None:
        """Return why no part of the file can be reverted; None if every part can be reverted."""
        if self.obstacle is not None:
            return self.obstacle
        if self.old.obstacle is not None:
            return self.old.obstacle
        if self.now.obstacle is not None:
            return f"{self.now.obstacle}, so acp-tui has no copy to undo the revert with"
        return None

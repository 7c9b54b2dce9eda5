"""One changed file, and the parts of its change that are accepted or reverted one by one."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from acp_tui.review.text_change import TextChange, is_text, join_lines

FileKind = Literal["added", "modified", "deleted", "mode", "unknown"]
PartKind = Literal["hunk", "mode", "whole"]

EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
MIN_SIMILARITY = 0.6
"""The minimum share of common lines for a new file to count as a renamed one."""
MAX_COMPARED_FILES = 20
"""With more deleted or new files than this, only files with equal contents are matched."""


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
class ChangePart:
    """A part of a change: a hunk by its number, the executable bit, or everything."""

    kind: PartKind
    hunk: int = 0


WHOLE, MODE = ChangePart("whole"), ChangePart("mode")


@dataclass(frozen=True)
class ChangedFile:
    """A file and its accepted version, which at first is the version in the baseline."""

    path: Path
    old: FileVersion
    now: FileVersion
    text: TextChange | None = None  # None if one side is not text
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
    def parts(self) -> tuple[ChangePart, ...]:
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
        return (*mode, *(ChangePart("hunk", number) for number in hunks))

    @property
    def _same_type(self) -> bool:
        return stat.S_IFMT(self.old.mode) == stat.S_IFMT(self.now.mode)

    def authors_of(self, part: ChangePart) -> int:
        """Return the authors of a part as bits, see `authorship`; 0 if the authors are unknown."""
        if part.kind == "hunk" and self.text is not None:
            return self.text.authors_of(part.hunk)
        return self.authors

    def find(self, other: ChangedFile, part: ChangePart) -> ChangePart | None:
        """Return the part that corresponds to a part of another version of this change, or None.

        The hunks of the two versions may have different numbers.
        """
        if part.kind == "hunk" and (self.old, self.now) != (other.old, other.now):
            number = self.text.find(other.text, part.hunk) if self.text and other.text else None
            if number is None:
                return None
            part = ChangePart("hunk", number)
        return part if part in self.parts else None

    def accept(self, part: ChangePart) -> ChangedFile:
        """Return the remaining change after a part was accepted."""
        if part.kind == "hunk" and self.text is not None:
            text = self.text.accept(part.hunk)
            return replace(self, old=replace(self.old, data=join_lines(text.old)), text=text)
        if part.kind == "mode":
            return replace(self, old=replace(self.old, mode=self.now.mode))
        return replace(self, old=self.now, text=None)

    def revert(self, part: ChangePart) -> ChangedFile:
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


def find_renames(files: Iterable[ChangedFile]) -> dict[Path, Path]:
    """Map both names of each renamed file to each other: the old to the new, and the new to the old."""
    left = [file for file in files if not file.done]
    deleted = [file for file in left if file.kind == "deleted" and file.old.data]
    added = [file for file in left if file.kind == "added" and file.now.data]
    found: dict[Path, Path] = {}
    by_content = {file.now.data: file for file in added}
    for file in deleted:
        same = by_content.pop(file.old.data, None)
        if same is not None:
            found |= {file.path: same.path, same.path: file.path}
    rest = [file for file in added if file.path not in found and file.text is not None]
    if len(deleted) <= MAX_COMPARED_FILES and len(rest) <= MAX_COMPARED_FILES:
        lines = {file.path: Counter(file.text.new) for file in rest if file.text is not None}
        for file in deleted:
            if file.path not in found and file.text is not None and lines:
                similarity = _similarities(Counter(file.text.old), lines)
                best = max(similarity, key=similarity.__getitem__)
                if similarity[best] >= MIN_SIMILARITY:
                    found |= {file.path: best, best: file.path}
                    del lines[best]
    return found


def _similarities(old: Counter[str], new: Mapping[Path, Counter[str]]) -> dict[Path, float]:
    return {
        path: 2 * (old & lines).total() / max(1, old.total() + lines.total()) for path, lines in new.items()
    }

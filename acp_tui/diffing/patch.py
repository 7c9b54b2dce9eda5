"""Reading unified diffs as agents write them: with headers or without, with wrong numbers, cut off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.diffing.hunks import Hunk, LineChange

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = r"([0-9]{1,9})"  # more digits are no line number, and int() refuses thousands of them
_HUNK = re.compile(rf"@@+(?: -{_NUMBER}(?:,{_NUMBER})? \+{_NUMBER}(?:,{_NUMBER})? @@+)? ?(.*)")
_FILE = re.compile(r"(?:diff --git .* b/|\*\*\* (?:Update|Add|Delete) File: |Index: )(.+)")
_SAYING = re.compile(
    r"(?:new file|deleted file|old mode|new mode|rename (?:from|to)|copy (?:from|to)|Binary files|GIT binary)"
)
_SILENT = re.compile(r"(?:index |similarity |dissimilarity |={3,}$|\*\*\* (?:Begin|End) |$)")


def read_patch(text: str) -> tuple[list[Hunk], list[str]]:
    """Return the hunks and the remarks of a patch. Lines that cannot be parsed become remarks."""
    reader = _Reader()
    for line in text.removesuffix("\n").split("\n"):
        reader.take(line)
    return reader.finished()


class _Reader:
    """State of the parser."""

    def __init__(self) -> None:
        self._hunks: list[Hunk] = []
        self._notes: list[str] = []  # … for the next hunk
        self._open: _OpenHunk | None = None
        self._files = 0
        self._named: str | None = None  # the file whose header came last

    def take(self, line: str) -> None:
        """Process one line."""
        if self._open is not None and self._open.wants(line):
            self._open.take(line)
        elif header := _HUNK.fullmatch(line):
            self._begin(header)
        else:
            self._outside(line)

    def _begin(self, header: re.Match[str] | None) -> None:
        after = self._open.end if self._open is not None else (1, 1)
        self._close()
        self._open = _OpenHunk(header, after, tuple(self._notes))
        self._notes = []

    def _outside(self, line: str) -> None:
        """Headers, remarks, or changes without any header."""
        if line.startswith("--- "):
            self._close()
        elif line.startswith("+++ "):
            self._name(_path(line))
        elif found := _FILE.match(line):
            self._close()
            self._name(found[1])
        elif _SAYING.match(line):
            self._notes.append(line)
        elif _SILENT.match(line):
            pass
        elif line[0] in "+- ":
            if self._open is None:
                self._begin(None)
            assert self._open is not None
            self._open.take(line)
        else:
            self._close()
            self._notes.append(line)

    def _name(self, path: str) -> None:
        """A file begins. The first one's name stands above the whole diff already."""
        if path not in ("/dev/null", self._named):
            self._named = path
            self._files += 1
            if self._files > 1:
                self._notes.append(path)

    def _close(self) -> None:
        if self._open is not None:
            self._hunks.append(self._open.finished())
            self._open = None

    def finished(self) -> tuple[list[Hunk], list[str]]:
        """All hunks, and what was said after the last (or without any)."""
        self._close()
        return self._hunks, self._notes


class _OpenHunk:
    """A hunk that is still being read."""

    def __init__(self, header: re.Match[str] | None, after: tuple[int, int], notes: tuple[str, ...]) -> None:
        old, old_count, new, new_count, heading = header.groups() if header else (None, None, None, None, "")
        self._start = (max(int(old), 1), max(int(new), 1)) if old and new else after
        self._counted = old is not None
        self._left = [int(old_count or 1), int(new_count or 1)] if old else [0, 0]
        self._heading = heading
        self._notes = notes
        self._parts: list[Sequence[str] | LineChange] = []
        self._same: list[str] = []
        self._removed: list[str] = []
        self._added: list[str] = []
        self._open = [False, False]
        self._taken = [0, 0]

    @property
    def end(self) -> tuple[int, int]:
        """The numbers that come next."""
        return self._start[0] + self._taken[0], self._start[1] + self._taken[1]

    def wants(self, line: str) -> bool:
        """Is it a line of this hunk? Where the header counts them, also one that looks like a header."""
        if line.startswith("\\"):
            return True
        if self._counted:
            return max(self._left) > 0 and not line.startswith(("@@ -", "diff --git "))
        return line[:1] in ("+", "-", " ") and not line.startswith(("--- ", "+++ "))

    def take(self, line: str) -> None:
        """Process one line."""
        sign, text = line[:1], line[1:]
        if sign == "\\":
            self._open = [bool(self._removed) and not self._added, bool(self._added)]
        elif sign == "-":
            if self._added:
                self._end_change()
            self._end_same()
            self._removed.append(text)
            self._count(1, 0)
        elif sign == "+":
            self._end_same()
            self._added.append(text)
            self._count(0, 1)
        else:
            self._end_change()
            self._same.append(text if sign == " " else line)  # some lose the blank of empty lines
            self._count(1, 1)

    def _count(self, old: int, new: int) -> None:
        for side, count in enumerate((old, new)):
            self._left[side] -= count
            self._taken[side] += count

    def _end_same(self) -> None:
        if self._same:
            self._parts.append(self._same)
            self._same = []

    def _end_change(self) -> None:
        if self._removed or self._added:
            removed_open, added_open = self._open
            self._parts.append(
                LineChange(self._removed, self._added, removed_open=removed_open, added_open=added_open)
            )
            self._removed, self._added = [], []
        self._open = [False, False]

    def finished(self) -> Hunk:
        """Close the hunk and return it."""
        self._end_change()
        self._end_same()
        return Hunk(self._parts, *self._start, heading=self._heading, notes=self._notes)


def _path(line: str) -> str:
    path = line[4:].split("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path

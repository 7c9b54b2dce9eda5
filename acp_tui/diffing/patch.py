"""Patches in the unified format: reading them, and writing differences as them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from acp_tui.diffing.hunks import Hunk, LineChange

if TYPE_CHECKING:
    from acp_tui.session.state import Diff


_NUMBER = r"([0-9]{1,9})"  # int() raises an error for thousands of digits
_HUNK = re.compile(rf"@@+(?: -{_NUMBER}(?:,{_NUMBER})? \+{_NUMBER}(?:,{_NUMBER})? @@+)? ?(.*)")
_FILE = re.compile(r"(?:diff --git .* b/|\*\*\* (?:Update|Add|Delete) File: |Index: )(.+)")
_NOTE_HEADER = re.compile(
    r"(?:new file|deleted file|old mode|new mode|rename (?:from|to)|copy (?:from|to)|Binary files|GIT binary)"
)
_IGNORED_HEADER = re.compile(r"(?:index |similarity |dissimilarity |={3,}$|\*\*\* (?:Begin|End) |$)")


def read_patch(text: str) -> tuple[list[Hunk], list[str]]:
    """Return the hunks of a patch, and the notes after the last hunk.

    Earlier notes are in the hunk that follows them. Lines outside hunks that cannot be parsed become notes.
    """
    reader = _Reader()
    for line in text.removesuffix("\n").split("\n"):
        reader.read(line)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self._hunks: list[Hunk] = []
        self._notes: list[str] = []  # for the next hunk
        self._open: _OpenHunk | None = None
        self._files = 0
        self._file: str | None = None  # from the last file header

    def read(self, line: str) -> None:
        if self._open is not None and self._open.includes(line):
            self._open.add(line)
        elif header := _HUNK.fullmatch(line):
            self._begin(header)
        else:
            self._read_outside(line)

    def _begin(self, header: re.Match[str] | None) -> None:
        after = self._open.end if self._open is not None else (1, 1)
        self._close()
        self._open = _OpenHunk(header, after, tuple(self._notes))
        self._notes = []

    def _read_outside(self, line: str) -> None:
        """Read a line outside a hunk: a header, a note, or a change without a hunk header."""
        if line.startswith("--- "):
            self._close()
        elif line.startswith("+++ "):
            self._begin_file(_path(line))
        elif found := _FILE.match(line):
            self._close()
            self._begin_file(found[1])
        elif _NOTE_HEADER.match(line):
            self._notes.append(line)
        elif _IGNORED_HEADER.match(line):
            pass
        elif line[0] in "+- ":
            if self._open is None:
                self._begin(None)
            assert self._open is not None
            self._open.add(line)
        else:
            self._close()
            self._notes.append(line)

    def _begin_file(self, path: str) -> None:
        """Add the name of a file to the notes, except for the first file, which is named above the diff."""
        if path not in ("/dev/null", self._file):
            self._file = path
            self._files += 1
            if self._files > 1:
                self._notes.append(path)

    def _close(self) -> None:
        if self._open is not None:
            self._hunks.append(self._open.finish())
            self._open = None

    def finish(self) -> tuple[list[Hunk], list[str]]:
        """Return all hunks, and the notes that follow the last hunk."""
        self._close()
        return self._hunks, self._notes


class _OpenHunk:
    """A hunk that is still being read."""

    def __init__(self, header: re.Match[str] | None, after: tuple[int, int], notes: tuple[str, ...]) -> None:
        old, old_count, new, new_count, heading = header.groups() if header else (None, None, None, None, "")
        self._start = (max(int(old), 1), max(int(new), 1)) if old and new else after
        self._has_counts = old is not None
        self._missing = [int(old_count or 1), int(new_count or 1)] if old else [0, 0]
        self._heading = heading
        self._notes = notes
        self._parts: list[Sequence[str] | LineChange] = []
        self._same: list[str] = []
        self._removed: list[str] = []
        self._added: list[str] = []
        self._no_newline = [False, False]
        self._count = [0, 0]

    @property
    def end(self) -> tuple[int, int]:
        """The numbers of the next line to read, in the old and in the new text."""
        return self._start[0] + self._count[0], self._start[1] + self._count[1]

    def includes(self, line: str) -> bool:
        """Return True if the line belongs to this hunk.

        A line that begins with `--- ` or `+++ ` belongs to the hunk if the hunk header announces more lines
        than were read so far.
        """
        if line.startswith("\\"):
            return True
        if self._has_counts:
            return max(self._missing) > 0 and not line.startswith(("@@ -", "diff --git "))
        return line[:1] in ("+", "-", " ") and not line.startswith(("--- ", "+++ "))

    def add(self, line: str) -> None:
        sign, text = line[:1], line[1:]
        if sign == "\\":
            self._no_newline = [bool(self._removed) and not self._added, bool(self._added)]
        elif sign == "-":
            if self._added:
                self._end_change()
            self._end_same()
            self._removed.append(text)
            self._advance(1, 0)
        elif sign == "+":
            self._end_same()
            self._added.append(text)
            self._advance(0, 1)
        else:
            self._end_change()
            self._same.append(text if sign == " " else line)  # some agents omit the space of an empty line
            self._advance(1, 1)

    def _advance(self, old: int, new: int) -> None:
        for side, count in enumerate((old, new)):
            self._missing[side] -= count
            self._count[side] += count

    def _end_same(self) -> None:
        if self._same:
            self._parts.append(self._same)
            self._same = []

    def _end_change(self) -> None:
        if self._removed or self._added:
            removed_open, added_open = self._no_newline
            self._parts.append(
                LineChange(self._removed, self._added, removed_open=removed_open, added_open=added_open)
            )
            self._removed, self._added = [], []
        self._no_newline = [False, False]

    def finish(self) -> Hunk:
        self._end_change()
        self._end_same()
        return Hunk(self._parts, *self._start, heading=self._heading, notes=self._notes)


def _path(line: str) -> str:
    path = line[4:].split("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


_MAX_COMPARISONS = 4_000_000
"""The maximum product of the numbers of old and new lines. Beyond it, `difflib` could take seconds."""
_NO_END = "\n\\ No newline at end of file"


def diff_lines(diff: Diff, first: int = 1) -> list[str]:
    """Return the lines of a unified diff of the old and the new text, without file names.

    If the agent sent a patch instead of the two texts, return the lines of the patch.

    `first` is the line number at which the texts begin in the file. If it is 0 (unknown), hunk headers have
    no line numbers.
    """
    if diff.patch is not None:
        return diff.patch.splitlines()
    old, new = _lines(diff.old, diff.new), _lines(diff.new, diff.old)
    if len(old) * len(new) <= _MAX_COMPARISONS:
        diff_output = unified_diff(old, new, lineterm="")
        lines = [line for lines in diff_output for line in lines.split("\n")][2:]  # skip the file names
        return [_renumber(line, first) if line.startswith("@@ ") else line for line in lines]
    start = _common_prefix(old, new)
    end = _common_prefix(old[start:][::-1], new[start:][::-1])
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    return [
        _renumber(f"@@ -{start + 1},{len(removed)} +{start + 1},{len(added)} @@", first),
        *(part for line in removed for part in f"-{line}".split("\n")),
        *(part for line in added for part in f"+{line}".split("\n")),
    ]


def _renumber(header: str, first: int) -> str:
    """Shift the line numbers of a hunk header for texts that begin at line `first` of their file."""
    if first == 1:
        return header
    return (
        re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + first - 1}", header)
        if first
        else "@@"
    )


def _lines(text: str | None, other: str | None) -> list[str]:
    """Split text into lines. If only the other text ends with a newline, add `_NO_END` to the last line."""
    lines = (text or "").splitlines()
    if text and other and other.endswith("\n") and not text.endswith("\n"):
        lines[-1] += _NO_END
    return lines


def _common_prefix(old: list[str], new: list[str]) -> int:
    """Return the number of equal lines at the beginning of both texts."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))

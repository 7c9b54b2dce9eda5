"""Finds the files that patches in a text change: unified diffs, context diffs, and `*** Begin Patch`.

The search is generous, because permissions depend on it: a header counts wherever a program that applies
patches could accept it, also in the middle of prose. `diffing.patch` reads the hunks of a diff, for display.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Operation = Literal["add", "update", "delete", "move"]

_MARKED_FILE = re.compile(r"[ \t]*\*\*\* (Add|Update|Delete) File:(.*)", re.IGNORECASE)
_MARKED_MOVE = re.compile(r"[ \t]*\*\*\* Move to:(.*)", re.IGNORECASE)
_MARKED_BOUNDARY = re.compile(r"[ \t]*\*\*\* (?:Begin|End) Patch[ \t\r]*", re.IGNORECASE)
_GIT_HEADER = "diff --git "
_INDEX_HEADER = "Index: "
_RENAME = re.compile(r"(?:rename|copy) (?:from|to) (.+)")
_MODE = re.compile(r"(new|create|deleted) file mode ")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_LETTER_PREFIX = re.compile(r"([a-z])/")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_START = re.compile(
    r"\s*(?:\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File:)|diff --git |Index: \S|@@ -\d"
    r"|--- \S[^\n]*\n\+\+\+ \S|\*\*\* \S[^\n]*\n--- \S)",
    re.IGNORECASE,
)
_HINTS = ("*** ", "\n+++ ", _GIT_HEADER, _INDEX_HEADER)
"""A text with a patch contains at least one of these."""
_NO_FILES = frozenset({"/dev/null", "dev/null", ""})


@dataclass(slots=True)
class PatchedFile:
    """A file that a patch changes."""

    operation: Operation = "update"
    paths: list[str] = field(default_factory=list)  # as in the patch; several if it is renamed
    lines: list[str] = field(default_factory=list)  # the hunks and, of a diff, the headers above them
    marked: bool = False  # from `*** Begin Patch`, whose hunks have no line numbers

    def add_path(self, path: str, *, first: bool = False) -> None:
        """Add a path unless it stands for no file."""
        if path not in _NO_FILES:
            others = [name for name in self.paths if name != path]
            self.paths = [path, *others] if first else [*others, path]


def is_patch(text: str) -> bool:
    """Return True if the text as a whole is a patch, rather than a text that contains one."""
    return _START.match(text) is not None


def patched_files(text: str) -> list[PatchedFile]:
    """Return the files that patches in the text change, in order; empty if there is no patch."""
    if not any(hint in text for hint in _HINTS):
        return []
    reader = _Reader(text.split("\n"))
    reader.read()
    return [file for file in reader.files if file.paths]


class _Reader:
    """Reads a text line by line."""

    def __init__(self, lines: list[str]) -> None:
        self.files: list[PatchedFile] = []
        self._lines = lines
        self._open: PatchedFile | None = None
        self._in_header = False  # between `diff --git` or `Index:` and the hunks of a file
        self._missing = [0, 0]  # lines that the open hunk still announces for the old and the new text

    def read(self) -> None:
        at = 0
        while at < len(self._lines):
            at += self._read_line(at)

    def _read_line(self, at: int) -> int:
        """Read a line, and the line after it if the two belong together. Return how many were read."""
        line = self._lines[at]
        if found := _MARKED_FILE.fullmatch(line):
            self._begin(_MARKED_OPERATIONS[found[1].lower()], found[2].strip(), marked=True)
        elif _MARKED_BOUNDARY.fullmatch(line):
            self._open = None
        elif self._open is not None and (found := _MARKED_MOVE.fullmatch(line)):
            self._open.operation = "move"
            self._open.add_path(found[1].strip())
            self._open.lines.append(f"rename to {found[1].strip()}")
        elif line.startswith(_GIT_HEADER):
            self._begin("update", *_git_names(line.removeprefix(_GIT_HEADER).strip()))
            self._in_header = True
        elif line.startswith(_INDEX_HEADER) and not self._in_hunk:
            self._begin("update", line.removeprefix(_INDEX_HEADER).strip())
            self._in_header = True
        elif self._names_files(at):
            self._read_names(line, self._lines[at + 1])
            return 2
        elif self._open is not None:
            self._read_inside(line, self._open)
        return 1

    @property
    def _in_hunk(self) -> bool:
        return self._open is not None and (self._open.marked or max(self._missing) > 0)

    def _names_files(self, at: int) -> bool:
        """Return True if this line and the next one name the old and the new file of a diff."""
        line, following, third = (*self._lines[at : at + 3], "", "")[:3]
        if line.startswith("--- ") and following.startswith("+++ "):
            # In a hunk, these can be changed lines that begin with `-- ` and `++ `.
            return not self._in_hunk or third.startswith("@@ -")
        return line.startswith("*** ") and following.startswith("--- ") and third.startswith("*****")

    def _read_names(self, first: str, second: str) -> None:
        old, new = _without_prefixes(_file_name(first), _file_name(second))
        if not self._in_header or self._open is None:
            self._begin("update")
        file = self._open
        assert file is not None
        file.add_path(old)
        file.add_path(new, first=True)
        if file.operation == "update" and (old in _NO_FILES) != (new in _NO_FILES):
            file.operation = "add" if old in _NO_FILES else "delete"
        file.lines += [first, second]
        self._in_header = False

    def _read_inside(self, line: str, file: PatchedFile) -> None:
        if self._in_header:
            if found := _RENAME.fullmatch(line):
                file.operation = "move"
                file.add_path(_unquoted(found[1].strip()))
            elif found := _MODE.match(line):
                file.operation = "delete" if found[1] == "deleted" else "add"
        if found := _HUNK.match(line):
            self._missing = [int(found[1] or 1), int(found[2] or 1)]
            self._in_header = False
        elif max(self._missing) > 0 and not line.startswith("\\"):
            self._missing[0] -= not line.startswith("+")
            self._missing[1] -= not line.startswith("-")
        file.lines.append(line)

    def _begin(self, operation: Operation, *paths: str, marked: bool = False) -> None:
        self._open = PatchedFile(operation, marked=marked)
        for path in paths:
            self._open.add_path(path)
        self._in_header = False
        self._missing = [0, 0]
        self.files.append(self._open)


_MARKED_OPERATIONS: dict[str, Operation] = {"add": "add", "update": "update", "delete": "delete"}


def _file_name(header: str) -> str:
    return _unquoted(header[4:].partition("\t")[0].strip())


def _git_names(names: str) -> tuple[str, ...]:
    """Return the two paths in `diff --git a/x b/x`; only one if they are the same without `a/` and `b/`."""
    middle = len(names) // 2
    if (
        names[middle : middle + 1] == " "
        and names[:middle].lstrip('"')[2:] == names[middle + 1 :].lstrip('"')[2:]
    ):
        pair = names[:middle], names[middle + 1 :]
    else:
        first, _, second = names.partition(" ")
        pair = first, second
    return tuple(dict.fromkeys(_without_prefixes(*map(_unquoted, pair))))


def _unquoted(name: str) -> str:
    """Undo git's quoting of unusual names, as in `"a/\\303\\274"`."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 8)) if len(found[1]) == 3 else found[1], name[1:-1])
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Remove the prefixes `a/` and `b/`, or those that git's `diff.mnemonicPrefix` uses instead."""
    prefixes = _LETTER_PREFIX.match(old), _LETTER_PREFIX.match(new)
    if prefixes[0] and prefixes[1] and prefixes[0][1] != prefixes[1][1] and old[2:] == new[2:]:
        return old[2:], new[2:]
    return old.removeprefix("a/"), new.removeprefix("b/")

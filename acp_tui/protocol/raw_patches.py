"""Finds patches in `rawInput`: some agents describe an edit only by a patch, under a key of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from acp_tui.protocol.json_rpc import decode
from acp_tui.protocol.raw_values import DIRECTORY_KEYS, FILE_KEYS, TEXT_KEYS
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.session.state import Diff

Operation = Literal["add", "update", "delete", "move"]
MAX_PATCHED_FILES = 100
"""The maximum number of patched files to read."""
MAX_VALUES = 20_000
"""The maximum number of values of a raw input to look at."""
_MARKED_FILE = re.compile(r"[ \t]*\*\*\* (Add|Update|Delete) File:(.*)", re.IGNORECASE)
_MARKED_MOVE = re.compile(r"[ \t]*\*\*\* Move to:(.*)", re.IGNORECASE)
_MARKED_BOUNDARY = re.compile(r"[ \t]*\*\*\* (?:Begin|End) Patch[ \t\r]*", re.IGNORECASE)
_GIT_HEADER = "diff --git "
_INDEX_HEADER = "Index: "
_RENAME = re.compile(r"(?:rename|copy) (?:from|to) (.+)")
_MODE = re.compile(r"(new|create|deleted) file mode ")
_FULL_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_LETTER_PREFIX = re.compile(r"([a-z])/")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_START = re.compile(
    r"\s*(?:\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File:)|diff --git |Index: \S|@@ -\d"
    r"|--- \S[^\n]*\n\+\+\+ \S|\*\*\* \S[^\n]*\n--- \S)",
    re.IGNORECASE,
)
_HINTS = ("*** ", "\n+++ ", _GIT_HEADER, _INDEX_HEADER)
"""Text with a patch contains at least one of these."""
_NO_FILES = frozenset({"/dev/null", "dev/null", ""})
_BESIDE_PATCHES = frozenset({"description", "explanation", "reason", *DIRECTORY_KEYS, *FILE_KEYS})
_HUNK = re.compile(r"\s*@@ -\d")
_DELETED = "deleted file"
"""Shown in place of the hunks of a file that a patch deletes without showing its text."""
_MARKED_OPERATIONS: dict[str, Operation] = {"add": "add", "update": "update", "delete": "delete"}


@dataclass(slots=True)
class RawPatches:
    """The files that the patches in a raw input change."""

    files: list[PatchedFile] = field(default_factory=list)
    is_all: bool = False  # the raw input has no other texts, apart from paths and explanations
    too_many: bool = False  # some files are not in `files`

    @property
    def paths(self) -> list[str]:
        """The paths of all files, as they are in the patches."""
        return list(dict.fromkeys(path for file in self.files for path in file.paths))


def read_patches(raw_input: Any) -> RawPatches:
    """Return the files that patches in a raw input change.

    The text of a file that is written does not count, although it may contain a patch.
    """
    texts, complete = texts_in(raw_input)
    found = RawPatches(is_all=True, too_many=not complete)
    for each in texts:
        if each.is_key or (each.path and each.key in TEXT_KEYS):
            continue
        files = patched_files(each.text)
        if not files and each.path and _HUNK.match(each.text):
            files = [PatchedFile("update", [each.path], each.text.strip("\n").split("\n"))]
        found.is_all = found.is_all and (is_patch(each.text) if files else each.key in _BESIDE_PATCHES)
        found.files += files
        if len(found.files) > MAX_PATCHED_FILES:
            del found.files[MAX_PATCHED_FILES:]
            found.too_many = True
            break
    found.is_all = found.is_all and bool(found.files)
    return found


def patch_diffs(raw_input: Any) -> list[Diff]:
    """Return a diff for each file that patches in a raw input change, safe to display."""
    return [_diff(file) for file in read_patches(raw_input).files]


def _diff(file: PatchedFile) -> Diff:
    path = escape_line(file.paths[0])
    hunks = _without_headers([line.removesuffix("\r") for line in file.lines], file)
    is_one = bool(hunks) and all(line[:1] in " +-" for line in hunks)
    if file.operation == "add" and is_one:
        return Diff(path, None, _side(hunks, "+"), from_input=True)
    if file.operation == "delete":
        text = _side(hunks, "-") if is_one else None
        return Diff(path, text, None, patch=None if is_one else _DELETED, from_input=True)
    if file.operation == "update" and file.marked and is_one:
        return Diff(path, _side(hunks, " -"), _side(hunks, " +"), from_input=True)
    return Diff(path, None, None, patch=escape_controls("\n".join(file.lines)), from_input=True)


def _without_headers(lines: list[str], file: PatchedFile) -> list[str]:
    """Return the lines below the first `@@`; if `file` is from a `*** Begin Patch`, also if there is none."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    at = next((at for at, line in enumerate(lines) if line.startswith("@@")), None)
    if at is None:
        return lines if file.marked else []
    if file.marked and (at > 0 or lines[0].strip() != "@@"):  # the header of the hunk would be lost
        return lines
    return lines[at + 1 :]


def _side(lines: list[str], signs: str) -> str:
    """Return the text of the lines that begin with one of `signs`, safe to display."""
    return escape_controls("".join(f"{line[1:]}\n" for line in lines if line[:1] in signs))


def _json_within(text: str) -> Any:
    """Return the object or list that the text contains as JSON; None for other texts."""
    stripped = text.strip()
    if not (stripped[:1] in {"{", "["} and stripped[-1:] in {"}", "]"}):
        return None
    value = decode(stripped)
    return value if isinstance(value, (dict, list)) else None


@dataclass(frozen=True, slots=True)
class RawText:
    """Text in a raw input."""

    text: str
    key: str = ""  # the innermost key above it
    path: str = ""  # the file that the object around it names, or that is itself a key above it
    is_key: bool = False  # the text is a key


def texts_in(raw_input: Any) -> tuple[list[RawText], bool]:
    """Return the texts in a raw input, including keys. Of text that is JSON, return the texts in it.

    The second item is False if there are more than `MAX_VALUES` values. Then texts are missing.
    """
    found: list[RawText] = []
    waiting: list[tuple[Any, str, str]] = [(raw_input, "", "")]
    room = MAX_VALUES
    while waiting and room > 0:
        value, key, path = waiting.pop()
        room -= 1
        if isinstance(value, str):
            inner = _json_within(value)
            if inner is None:
                found.append(RawText(value, key, path))
            else:
                waiting.append((inner, key, path))
        elif isinstance(value, list):
            waiting += [(item, key, path) for item in reversed(value)]
        elif isinstance(value, dict):
            named = next((value[name] for name in FILE_KEYS if isinstance(value.get(name), str)), path)
            found += [RawText(name, key, path, is_key=True) for name in value]
            waiting += [
                (item, name, name if "/" in name else named) for name, item in reversed(value.items())
            ]
    return found, not waiting


# --------------------------------------------------------------------------- patches in a text


@dataclass(slots=True)
class PatchedFile:
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
    """Return True if the text as a whole is a patch, rather than text that contains one."""
    return _START.match(text) is not None


def patched_files(text: str) -> list[PatchedFile]:
    """Return the files that patches in the text change, in order; empty if there is no patch."""
    if not any(hint in text for hint in _HINTS):
        return []
    reader = _PatchedFileReader(text.split("\n"))
    reader.read()
    return [file for file in reader.files if file.paths]


class _PatchedFileReader:
    """Reads text line by line."""

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
        if found := _FULL_HUNK.match(line):
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

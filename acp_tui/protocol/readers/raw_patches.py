"""Finds patches in `rawInput`: some agents describe an edit only by a patch, under a key of their own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from acp_tui.protocol.readers.patched_files import PatchedFile, is_patch, patched_files
from acp_tui.protocol.readers.raw_input_keys import DIRECTORY_KEYS, FILE_KEYS, TEXT_KEYS
from acp_tui.session.state import Diff
from acp_tui.session.text.safe_text import visible, visible_line

MAX_PATCHED_FILES = 100
"""The maximum number of patched files to read."""
MAX_VALUES = 20_000
"""The maximum number of values of a raw input to look at."""
_BESIDE_PATCHES = frozenset({"description", "explanation", "reason", *DIRECTORY_KEYS, *FILE_KEYS})
_HUNK = re.compile(r"\s*@@ -\d")
_DELETED = "deleted file"
"""Shown in place of the hunks of a file that a patch deletes without showing its text."""


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


@dataclass(frozen=True, slots=True)
class RawText:
    """A text in a raw input."""

    text: str
    key: str = ""  # the innermost key above it
    path: str = ""  # the file that the object around it names, or that is itself a key above it
    is_key: bool = False  # the text is a key


def texts_in(raw_input: Any) -> tuple[list[RawText], bool]:
    """Return the texts in a raw input, including keys. Of a text that is JSON, return the texts in it.

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
    path = visible_line(file.paths[0])
    hunks = _without_headers([line.removesuffix("\r") for line in file.lines], file)
    is_one = bool(hunks) and all(line[:1] in " +-" for line in hunks)
    if file.operation == "add" and is_one:
        return Diff(path, None, _side(hunks, "+"), from_input=True)
    if file.operation == "delete":
        text = _side(hunks, "-") if is_one else None
        return Diff(path, text, None, patch=None if is_one else _DELETED, from_input=True)
    if file.operation == "update" and file.marked and is_one:
        return Diff(path, _side(hunks, " -"), _side(hunks, " +"), from_input=True)
    return Diff(path, None, None, patch=visible("\n".join(file.lines)), from_input=True)


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
    return visible("".join(f"{line[1:]}\n" for line in lines if line[:1] in signs))


def _json_within(text: str) -> Any:
    """Return the object or list that a text contains as JSON; None for other texts."""
    stripped = text.strip()
    if not (stripped[:1] in {"{", "["} and stripped[-1:] in {"}", "]"}):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None

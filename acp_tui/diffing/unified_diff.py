"""The unified diff of one changed file, as lines of text."""

from __future__ import annotations

import re
from difflib import unified_diff
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.state import Diff

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

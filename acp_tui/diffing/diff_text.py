"""One changed file as lines with `+` and `-`."""

from __future__ import annotations

import re
from difflib import unified_diff
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.state import Diff

_COMPARABLE = 4_000_000
"""Lines times lines that are compared one with another: beyond that it could take seconds."""
_NO_END = "\n\\ No newline at end of file"


def diff_lines(diff: Diff, first: int = 1) -> list[str]:
    """The changed lines with a little context; the patch itself where the agent gave one.

    `first` is the number of the first line; where it is 0, which means not known, hunks have no numbers.
    """
    if diff.patch is not None:
        return diff.patch.splitlines()
    old, new = _lines(diff.old, diff.new), _lines(diff.new, diff.old)
    if len(old) * len(new) <= _COMPARABLE:
        told = unified_diff(old, new, lineterm="")
        lines = [line for lines in told for line in lines.split("\n")][2:]  # without the names of the files
        return [_renumbered(line, first) if line.startswith("@@ ") else line for line in lines]
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    return [
        _renumbered(f"@@ -{start + 1},{len(removed)} +{start + 1},{len(added)} @@", first),
        *(part for line in removed for part in f"-{line}".split("\n")),
        *(part for line in added for part in f"+{line}".split("\n")),
    ]


def _renumbered(header: str, first: int) -> str:
    """The header of a hunk, where the texts begin at line `first` of their files."""
    if first == 1:
        return header
    return (
        re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + first - 1}", header)
        if first
        else "@@"
    )


def _lines(text: str | None, other: str | None) -> list[str]:
    """A last line that does not end says so, unless that of the other one does not end either."""
    lines = (text or "").splitlines()
    if text and other and other.endswith("\n") and not text.endswith("\n"):
        lines[-1] += _NO_END
    return lines


def _common(old: list[str], new: list[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))

"""One changed file as lines with `+` and `-`."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.state import Diff

_COMPARABLE = 4_000_000
"""Lines times lines that are compared one with another: beyond that it could take seconds."""


def diff_lines(diff: Diff) -> list[str]:
    """The changed lines with a little context; the patch itself where the agent gave one."""
    if diff.patch is not None:
        return diff.patch.splitlines()
    old, new = (diff.old or "").splitlines(), (diff.new or "").splitlines()
    if len(old) * len(new) <= _COMPARABLE:
        return list(unified_diff(old, new, lineterm=""))[2:]  # without the names of the files
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    return [
        f"@@ -{start + 1},{len(removed)} +{start + 1},{len(added)} @@",
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
    ]


def _common(old: list[str], new: list[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))

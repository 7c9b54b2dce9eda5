"""Finds renamed files: pairs of a deleted and a new file with equal or similar content."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from acp_tui.review.changed_file import ChangedFile

MIN_SIMILARITY = 0.6
"""The minimum share of common lines for a new file to count as a renamed one."""
MAX_COMPARED_FILES = 20
"""With more deleted or new files than this, only files with equal contents are matched."""


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

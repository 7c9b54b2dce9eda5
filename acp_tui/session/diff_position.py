"""Finds the line of a file where a diff starts. Many agents send only the changed text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.state import Diff, PatchHunk, ToolCall


def first_line(call: ToolCall, diff: Diff) -> int:
    """Return the number of the diff's first line in the file; 0 if unknown.

    The result for a patch is 1, or 0 if its hunks have no line numbers.
    """
    if diff.patch is not None:
        return 0 if diff.from_input and "@@ -" not in diff.patch else 1
    if diff.old is None or diff.new is None:
        return 1
    if diff.line is not None:
        return diff.line
    location = next((place.line for place in call.locations if place.path == diff.path and place.line), None)
    # If the diff contains the whole file, a location is the first changed line; otherwise the line where the
    # diff starts. If the line number is larger than the number of lines in the diff, the diff cannot be the
    # whole file. Line 1 is the start in both cases.
    is_start = location is not None and not 1 < location <= diff.old.count("\n") + 1
    is_snippet = isinstance(call.raw_input, dict) and diff.old in call.raw_input.values()
    return location or 0 if is_start or is_snippet else 0


def line_in_text(diff: Diff, text: str, *, applied: bool) -> int | None:
    """Return the line at which the diff starts in the text of its file; None if no unique line is found.

    `text` is searched for the diff's old text, then for its new text; in the opposite order if `applied`.
    """
    sides = (diff.new, diff.old) if applied else (diff.old, diff.new)
    for side in sides:
        if side and text.count(side) == 1:
            return text.count("\n", 0, text.index(side)) + 1
    return None


def line_by_hunks(diff: Diff, hunks: Iterable[PatchHunk]) -> int | None:
    """Return the line where the diff starts according to a patch's hunks; None unless the hunks agree."""
    if not diff.old:
        return None
    found = {line for hunk in hunks if _may_be_of(hunk, diff) and (line := _line_by(hunk, diff.old))}
    return found.pop() if len(found) == 1 else None


def _may_be_of(hunk: PatchHunk, diff: Diff) -> bool:
    return not hunk.path or hunk.path == diff.path


def _line_by(hunk: PatchHunk, old: str) -> int | None:
    """Return the line at which the old text starts in its file according to the hunk; None if unclear.

    Either the hunk must contain the old text exactly once, or the old text must contain the hunk once.
    """
    longer, part = (hunk.old + "\n", old) if len(old) <= len(hunk.old) + 1 else (old, hunk.old)
    if longer.count(part) != 1:
        return None
    before = longer.count("\n", 0, longer.index(part))
    line = hunk.line + before if part is old else hunk.line - before
    return line if line > 0 else None

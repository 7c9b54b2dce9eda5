"""Expands an agent's diff of a part of a file to a diff of the whole file.

A user who is asked to allow a change needs to see the lines around it and its line number.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.errors import Refusal
from acp_tui.session.error_codes import RESOURCE_NOT_FOUND
from acp_tui.session.state import Diff
from acp_tui.session.text.safe_text import visible

if TYPE_CHECKING:
    from acp_tui.session.state import ToolCall
    from acp_tui.workspace.files.file_access import FileAccess

MAX_FILE_SIZE = 1_000_000
"""The maximum size in bytes of a file to read."""


async def whole_file_diffs(call: ToolCall, files: FileAccess) -> list[tuple[Diff, Diff]]:
    """Return each diff of a part of a file, together with the same change as a diff of the whole file.

    Left out are diffs whose position in the file is unclear, diffs without new text, and patches.
    """
    found = []
    everywhere = isinstance(call.raw_input, dict) and call.raw_input.get("replace_all") is True
    for diff in [item for item in call.content if isinstance(item, Diff)]:
        if diff.old and diff.new is not None and diff.patch is None:
            text = await asyncio.to_thread(read_for_display, diff.path, files)
            times = text.count(diff.old)
            if text != diff.old and (times == 1 or (times and everywhere)):
                found.append((diff, _whole(diff, text)))
    return found


async def contents_after(call: ToolCall, files: FileAccess) -> tuple[tuple[str, str], ...]:
    """Return the real path of each file in the call's diffs, and the file's content after the call.

    Files whose future content cannot be determined are left out.

    A diff can show the whole file or only the lines around a change, and a file can have several diffs.
    """
    found: dict[str, str | None] = {}
    everywhere = isinstance(call.raw_input, dict) and call.raw_input.get("replace_all") is True
    for diff in [item for item in call.content if isinstance(item, Diff)]:
        real, text = await asyncio.to_thread(_now, diff.path, files)
        before = found.get(real, text)
        found[real] = None if before is None else _changed(before, diff, everywhere=everywhere)
    return tuple((path, text) for path, text in found.items() if text is not None)


def _changed(text: str, diff: Diff, *, everywhere: bool) -> str | None:
    """Return the text with the diff applied; None if the resulting text cannot be determined.

    With `everywhere`, the diff applies to all occurrences of its old text.
    """
    if diff.patch is not None or diff.new is None:
        return None
    if not diff.old:
        return None if text else diff.new
    times = text.count(diff.old)
    if times == 1 or (times and everywhere):
        return text.replace(diff.old, diff.new)
    return None


def _now(path: str, files: FileAccess) -> tuple[str, str | None]:
    """Return the real path of a file, and its text.

    The text is "" if there is no file. It is None if the file cannot or must not be read.
    """
    try:
        with files.open_for_reading(path) as reading:
            if not reading.inside or reading.sensitive or reading.size > MAX_FILE_SIZE:
                return str(reading.real), None
            return str(reading.real), visible(reading.text())
    except Refusal as refusal:
        return os.path.realpath(path), "" if refusal.code == RESOURCE_NOT_FOUND else None


def _whole(diff: Diff, text: str) -> Diff:
    changes: dict[str, Any] = {"old": text, "new": text.replace(diff.old or "", diff.new or ""), "line": 1}
    return replace(diff, **changes)


def read_for_display(path: str, files: FileAccess) -> str:
    """Return the current text of a file, safe to display.

    The text is "" if the file is outside the workspace, sensitive, too large, or cannot be read.
    """
    with suppress(Refusal), files.open_for_reading(path) as reading:
        if reading.inside and not reading.sensitive and reading.size <= MAX_FILE_SIZE:
            return visible(reading.text())
    return ""

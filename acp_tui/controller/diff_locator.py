"""Finds the line at which a diff of a tool call applies, and records the line for replays."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.errors import Refusal
from acp_tui.session.diff_position import line_in_text
from acp_tui.session.events import DiffPlaced, Event
from acp_tui.session.record import RESOURCE_NOT_FOUND, Change
from acp_tui.session.safe_text import escape_controls
from acp_tui.session.state import Diff, ToolCall

if TYPE_CHECKING:
    from acp_tui.workspace.files.file_access import FileAccess


MAX_FILE_SIZE = 1_000_000
"""The maximum size in bytes of a file to read."""


class DiffLocator:
    """Finds the lines of diffs in the files as soon as the agent sends the diffs: files can change later."""

    def __init__(self, files: FileAccess, note: Callable[[Event], None]) -> None:
        self._files = files
        self._note = note
        self._tried: set[tuple[int, bool, str, str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def see(self, changes: Sequence[Change], *, history: bool) -> None:
        """For each diff in these changes, search the line at which the diff applies, if `_is_new` is True.

        With `history`, the changes are a replay and are skipped, because the files may have changed since.
        """
        for change in changes:
            call = change.entry
            if not isinstance(call, ToolCall) or history:
                continue
            for diff in call.content:
                if isinstance(diff, Diff) and self._is_new(diff, call):
                    task = asyncio.create_task(self._place(call, diff))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)

    def _is_new(self, diff: Diff, call: ToolCall) -> bool:
        """Return True if the diff's line is unknown and has not been searched for in this phase of the call.

        There are two phases: before and after the end of the call. Agents repeat a diff with every update,
        but one search per phase is enough. Return False for a patch, and for a diff without an old or a new
        text.
        """
        if diff.line is not None or diff.patch is not None or not diff.old or diff.new is None:
            return False
        key = (call.id, call.done, diff.path, diff.old, diff.new)
        known = key in self._tried
        self._tried.add(key)
        return not known

    async def _place(self, call: ToolCall, diff: Diff) -> None:
        applied = call.status == "completed"
        text = await asyncio.to_thread(read_for_display, diff.path, self._files)
        line = line_in_text(diff, text, applied=applied)
        index = next((at for at, item in enumerate(call.content) if item == diff), None)
        if line is not None and index is not None and diff.line is None:
            self._note(DiffPlaced(call.call_id, index, diff.path, line))

    async def close(self) -> None:
        """Cancel the running searches for lines."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


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
            return str(reading.real), escape_controls(reading.text())
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
            return escape_controls(reading.text())
    return ""

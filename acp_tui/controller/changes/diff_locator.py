"""Finds the line at which a diff of a tool call applies, and records the line for replays."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.controller.changes.whole_file_diffs import read_for_display
from acp_tui.session.diff_position import line_in_text
from acp_tui.session.events import DiffPlaced
from acp_tui.session.state import Diff, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.workspace.files.file_access import FileAccess


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

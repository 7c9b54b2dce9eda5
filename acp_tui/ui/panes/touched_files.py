"""Collects the files that the tool calls of a session mention."""

from __future__ import annotations

import os.path
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from acp_tui.session.state import Diff, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.state import Session


@dataclass(slots=True)
class TouchedFile:
    """A file that tool calls mention."""

    path: str
    line: int | None = None  # the latest line mentioned
    diffs: dict[str, Diff] = field(default_factory=dict)  # by the id of the tool call, oldest first


class TouchedFiles:
    """The touched files by absolute path."""

    def __init__(self, session: Session, cwd: str) -> None:
        self._cwd = cwd
        self.files: dict[str, TouchedFile] = {}
        subagents = (subagent.session for subagent in session.subagents.values())
        for entry in chain(session.entries, *(inner.entries for inner in subagents)):
            if isinstance(entry, ToolCall):
                self.add_call(entry)

    def add_call(self, call: ToolCall) -> bool:
        """Add the files of a new or changed tool call. Return True if that changed the collection."""
        changed = False
        for location in call.locations:
            if self.absolute(location.path) == self._cwd:
                continue  # commands report the folder they run in
            file, new = self._get_or_add(location.path)
            changed |= new or (location.line is not None and location.line != file.line)
            file.line = location.line if location.line is not None else file.line
        for diff in (part for part in call.content if isinstance(part, Diff)):
            file, _ = self._get_or_add(diff.path)
            changed |= file.diffs.get(call.call_id) is not diff
            file.diffs[call.call_id] = diff
        return changed

    def absolute(self, path: str) -> str:
        """Return the normalized absolute path of a file."""
        return os.path.normpath(os.path.join(self._cwd, path))  # noqa: PTH118  # pathlib does not normalize

    def _get_or_add(self, path: str) -> tuple[TouchedFile, bool]:
        path = self.absolute(path)
        known = self.files.get(path)
        if known is not None:
            return known, False
        file = self.files[path] = TouchedFile(path)
        return file, True

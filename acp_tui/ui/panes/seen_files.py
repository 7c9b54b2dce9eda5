"""The files of a session, gathered from its tool calls as they come."""

from __future__ import annotations

import os.path
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_tui.session.state import Diff, ToolCall

if TYPE_CHECKING:
    from acp_tui.session.state import Session


@dataclass(slots=True)
class TouchedFile:
    """One file that tool calls named."""

    path: str
    line: int | None = None  # the last one that was named
    diffs: dict[str, Diff] = field(default_factory=dict)  # by tool call, in order


class TouchedFiles:
    """All of them, by path, those named first first."""

    def __init__(self, session: Session, cwd: str) -> None:
        self._cwd = cwd
        self.files: dict[str, TouchedFile] = {}
        for entry in session.entries:
            if isinstance(entry, ToolCall):
                self.take(entry)

    def take(self, call: ToolCall) -> bool:
        """This call has changed; True: so has what is known of the files."""
        news = False
        for place in call.locations:
            if self.absolute(place.path) == self._cwd:
                continue  # where a command runs is no file
            file, new = self._file(place.path)
            news |= new or (place.line is not None and place.line != file.line)
            file.line = place.line if place.line is not None else file.line
        for diff in (part for part in call.content if isinstance(part, Diff)):
            file, _ = self._file(diff.path)
            news |= file.diffs.get(call.call_id) is not diff
            file.diffs[call.call_id] = diff
        return news

    def absolute(self, path: str) -> str:
        """The same file under one name, whichever way it was named."""
        return os.path.normpath(os.path.join(self._cwd, path))  # noqa: PTH118  # no look at the disk

    def _file(self, path: str) -> tuple[TouchedFile, bool]:
        path = self.absolute(path)
        known = self.files.get(path)
        if known is not None:
            return known, False
        file = self.files[path] = TouchedFile(path)
        return file, True

"""Collects what has changed and shows it, so many times a second and no more.

Not by a timer of Textual's: one for a millisecond is never rung when the machine takes longer to set it.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.dom import DOMNode

    from acp_tui.session.change import Change

INTERVAL = 1 / 30


class FrameBatch:
    """The first change after a pause is shown at once, the others of a flood together."""

    def __init__(self, owner: DOMNode, show: Callable[[list[Change]], None]) -> None:
        self._owner = owner
        self._show = show
        self._changes: list[Change] = []
        self._entries: set[int] = set()  # of updated entries: once a frame is enough
        self._waiting = False
        self._last = 0.0

    def add(self, changes: Sequence[Change]) -> None:
        """These changed, too."""
        for change in changes:
            if change.kind == "updated" and change.entry is not None:
                if change.entry.id in self._entries:
                    continue
                self._entries.add(change.entry.id)
            self._changes.append(change)
        if not self._waiting and self._changes:
            self._waiting = True
            wait = max(0.0, self._last + INTERVAL - time.monotonic())
            asyncio.get_running_loop().call_later(wait, self._owner.call_next, self.flush)

    def flush(self) -> None:
        """Show what has come."""
        self._waiting = False
        changes, self._changes = self._changes, []
        self._entries.clear()
        if changes and self._owner.display:  # else it is being taken down, and its parts are gone
            self._show(changes)
        self._last = time.monotonic()

"""Batches changes and draws them at a limited frame rate.

Textual's own timers are not used: on a slow machine very short ones never fire.
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
    """Shows the first change after a pause at once and batches those that follow."""

    def __init__(self, owner: DOMNode, show: Callable[[list[Change]], None]) -> None:
        self._owner = owner
        self._show = show
        self._changes: list[Change] = []
        self._entries: set[int] = set()  # ids of updated entries: one update per frame is enough
        self._waiting = False
        self._last = 0.0

    def add(self, changes: Sequence[Change]) -> None:
        """Queue changes for the next frame."""
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
        """Show the queued changes now."""
        self._waiting = False
        changes, self._changes = self._changes, []
        self._entries.clear()
        if changes and self._owner.display:  # else it is being taken down, and its parts are gone
            self._show(changes)
        self._last = time.monotonic()

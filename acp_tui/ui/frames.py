"""Collects what has changed and shows it, so many times a second and no more."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.message_pump import MessagePump
    from textual.timer import Timer

    from acp_tui.session.change import Change

INTERVAL = 1 / 30


class Frames:
    """The first change after a pause is shown at once, the others of a flood together."""

    def __init__(self, owner: MessagePump, show: Callable[[list[Change]], None]) -> None:
        self._owner = owner
        self._show = show
        self._changes: list[Change] = []
        self._entries: set[int] = set()  # of updated entries: once a frame is enough
        self._waiting: Timer | None = None
        self._last = 0.0

    def add(self, changes: Sequence[Change]) -> None:
        """These changed, too."""
        for change in changes:
            if change.what == "updated" and change.entry is not None:
                if change.entry.id in self._entries:
                    continue
                self._entries.add(change.entry.id)
            self._changes.append(change)
        if self._waiting is None and self._changes:
            wait = max(0.001, self._last + INTERVAL - time.monotonic())
            self._waiting = self._owner.set_timer(wait, self.flush)

    def flush(self) -> None:
        """Show what has come."""
        self._waiting = None
        changes, self._changes = self._changes, []
        self._entries.clear()
        if changes:
            self._show(changes)
        self._last = time.monotonic()

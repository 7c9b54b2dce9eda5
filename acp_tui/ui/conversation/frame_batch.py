"""Batches changes and draws them at a limited frame rate.

Textual's own timers are not used: on a slow machine very short ones never fire.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.ui.screens.base import BaseScreen

FRAME_SECONDS = 1 / 30
"""The minimum number of seconds between two frames."""
HIDDEN_SECONDS = 0.25
"""The minimum number of seconds between two frames while another tab is in front.

Meanwhile, changes only update the mark of the conversation in the tab strip.
"""


class FrameBatch:
    """Draws the first change after a pause immediately, and collects later ones for the next frame."""

    def __init__(self, owner: BaseScreen, show: Callable[[list[Change]], None]) -> None:
        """`show` draws changes; it is called in the message loop of `owner`."""
        self._owner = owner
        self._show = show
        self._changes: list[Change] = []
        self._updated: set[int] = set()  # ids of updated entries; one update of each per frame is enough
        self._is_scheduled = False
        self._drawn_at = 0.0

    def add(self, changes: Sequence[Change]) -> None:
        """Queue changes for the next frame."""
        for change in changes:
            if change.kind == "updated" and change.entry is not None:
                if change.entry.id in self._updated:
                    continue
                self._updated.add(change.entry.id)
            self._changes.append(change)
        if not self._is_scheduled and self._changes:
            self._is_scheduled = True
            pause = FRAME_SECONDS if self._owner.is_in_front else HIDDEN_SECONDS
            wait = max(0.0, self._drawn_at + pause - time.monotonic())
            asyncio.get_running_loop().call_later(wait, self._owner.call_next, self.flush)

    def flush(self) -> None:
        """Draw the queued changes now."""
        self._is_scheduled = False
        changes, self._changes = self._changes, []
        self._updated.clear()
        if changes and self._owner.display:  # False while the screen is being removed and has no widgets
            self._show(changes)
        self._drawn_at = time.monotonic()

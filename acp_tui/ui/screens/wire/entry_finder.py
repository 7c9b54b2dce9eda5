"""Finds the frames of an entry, and the entry of a frame, in a log that may grow."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from acp_tui.session.record import Record
from acp_tui.wire.entry_frames import EntryFrames

if TYPE_CHECKING:
    from acp_tui.wire.frame_log import FrameLog


SLICE_SECONDS = 0.008
"""Seconds of folding before keys are handled again."""
PAUSE_SECONDS = 0.001


class EntryFinder:
    """Folds a log as far as it goes, in slices. Keeps the result while the wire screen is closed."""

    def __init__(self) -> None:
        self.frames = EntryFrames()
        """The frames of each entry, by `FrameRow.place`."""
        self.progress = 1.0
        """How much of the log is folded, from 0 to 1."""
        self._last_place = -1
        self._lock = asyncio.Lock()

    def restart(self) -> None:
        """Forget everything: the log is another one now."""
        self.frames, self._last_place = EntryFrames(), -1

    async def catch_up(self, log: FrameLog) -> bool:
        """Fold what has been added to a log. Return True if there was anything.

        While the beginning of the log is not indexed, there is nothing to fold.
        """
        async with self._lock:
            number = self._next_number(log)
            before = number
            while log.is_complete and number < len(log):
                until = time.monotonic() + SLICE_SECONDS
                while number < len(log) and time.monotonic() < until:
                    self._fold(log, number)
                    number += 1
                self.progress = number / len(log)
                if number < len(log):
                    await asyncio.sleep(PAUSE_SECONDS)
                    number = self._next_number(log)  # lines of stderr may have come in between
            self.progress = 1.0
            return number > before

    def _next_number(self, log: FrameLog) -> int:
        if not log.is_complete:
            return len(log)
        last = log.number_of(self._last_place) if self._last_place >= 0 else None
        return 0 if last is None else last + 1

    def _fold(self, log: FrameLog, number: int) -> None:
        row = log.row(number)
        if row.at is None or row.place < 0:
            return
        self._last_place = row.place
        if row.direction in ("sent", "received", "client"):
            frame = log.frame(number)
            frame = [frame] if row.is_in_batch else frame
            self.frames.add(row.place, Record(row.at, row.direction, frame))

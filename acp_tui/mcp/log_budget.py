"""Limits how much of a server's output is logged, so that a flood cannot push calls out of the log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BURST_LINES = 1000
"""The number of lines that may be logged at once: enough for a stack trace or a build."""
LINES_PER_SECOND = 20.0
MAX_LINE_CHARACTERS = 2000
MAX_BLOCK_CHARACTERS = 1 << 20
"""The number of characters read from one block of output; the rest is dropped."""


class LogBudget:
    """Lets a burst of lines pass, and then a few in each second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = float(BURST_LINES)
        self._at = clock()
        self._dropped = 0

    def pass_lines(self, text: str) -> list[str]:
        """Return those lines of a text that may be logged. Empty lines are left out.

        If lines were dropped before, the first returned line says how many.
        """
        now = self._clock()
        self._left = min(BURST_LINES, self._left + (now - self._at) * LINES_PER_SECOND)
        self._at = now
        lines = [line for line in text[:MAX_BLOCK_CHARACTERS].splitlines() if line.strip()]
        room = int(self._left)
        passed = [line[:MAX_LINE_CHARACTERS] for line in lines[:room]]
        self._left -= len(passed)
        if passed and self._dropped:
            passed.insert(0, f"… {self._dropped:,} lines were not logged: the server wrote too many")
            self._dropped = 0
        self._dropped += len(lines) - len(lines[:room])
        return passed

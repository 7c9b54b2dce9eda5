"""Divides the time of the event loop among the agents that send at the same time."""

from __future__ import annotations

import asyncio

MAX_LOOP_SECONDS = 0.0015
"""How long, in one pass of the event loop, messages of agents may be processed before other tasks get a turn.

It is short because the effect of a key press is shown only after several passes.
"""


class LoopShare:
    """Counts the busy connections in each pass of the event loop, and divides the next pass among them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._busy = 0  # connections that asked for their share in this pass
        self._busy_before = 1  # the same for the previous pass

    def seconds(self) -> float:
        """Count the caller as busy, and return how long the caller may process messages in this pass."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._busy, self._busy_before = loop, 0, 1
        if self._busy == 0:
            loop.call_soon(self._end_pass)
        self._busy += 1
        return MAX_LOOP_SECONDS / self._busy_before

    def _end_pass(self) -> None:
        self._busy_before, self._busy = self._busy, 0


LOOP_SHARE = LoopShare()
"""The instance that all connections of this process share."""

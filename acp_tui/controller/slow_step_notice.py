"""Notices about slow steps of the agent, such as starting or opening a session."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from acp_tui.session.events import Noticed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from acp_tui.session.events import Event

SLOW_STEP_SECONDS = 3.0
"""Delay before the user is told what acp-tui waits for."""


class SlowStepNotices:
    """Shows a notice, with a fault on stdout and the last line on stderr, while a step of the agent is slow.

    If the step succeeds, another notice says how long the step took.
    """

    def __init__(
        self,
        title: Callable[[], str],
        note: Callable[[Event], None],
        stderr_tail: Callable[[int], list[str]],
        stdout_fault: Callable[[], str],
        clock: Callable[[], float],
    ) -> None:
        self._title = title
        self._note = note
        self._stderr_tail = stderr_tail
        self._stdout_fault = stdout_fault
        self._clock = clock

    @asynccontextmanager
    async def during(self, step: str) -> AsyncIterator[None]:
        """Show a notice if the `with` block is slow. `step` is an infinitive: "to open a session"."""
        began, title = self._clock(), self._title()
        shown = False

        def show() -> None:
            nonlocal shown
            shown = True
            last = self._stderr_tail(1)
            stderr = f"Last line on stderr: {last[0]}" if last else ""
            sentences = " ".join(
                filter(None, [f"Waiting for {title} {step} …", self._stdout_fault(), stderr])
            )
            self._note(Noticed("info", sentences, source="waiting"))

        timer = asyncio.get_running_loop().call_later(SLOW_STEP_SECONDS, show)
        try:
            yield
        finally:
            timer.cancel()
        if shown:
            took = f"{self._clock() - began:.0f} s"
            self._note(Noticed("info", f"{title} took {took} {step}", source="waited"))

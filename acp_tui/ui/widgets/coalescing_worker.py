"""A job that is run again whenever something has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from textual.screen import Screen


class CoalescingWorker:
    """Runs a job in a worker of a screen, one run at a time. Requests during a run cause one more run."""

    def __init__(
        self, screen: Screen[Any], job: Callable[[], Awaitable[None]], failed: Callable[[UserError], None]
    ) -> None:
        """`failed` is called with the `UserError` if a run raises one."""
        self._screen = screen
        self._job = job
        self._failed = failed
        self._running = False
        self._requested = False

    def request(self) -> None:
        """Run the job soon, or once more if it is running."""
        self._requested = True
        if not self._running and self._screen.is_attached:
            self._running = True
            self._screen.run_worker(self._run(), group="repeated job")

    async def _run(self) -> None:
        try:
            while self._requested:
                self._requested = False
                try:
                    await self._job()
                except UserError as error:
                    self._failed(error)
        finally:
            self._running = False

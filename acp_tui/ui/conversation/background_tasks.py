"""Tasks that run in the background of a conversation and report their errors."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class BackgroundTasks:
    """Starts tasks, and cancels those that still run when the conversation is closed."""

    def __init__(self, show_error: Callable[[UserError], None]) -> None:
        """`show_error` is called with each `UserError` that a task raises."""
        self._show_error = show_error
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine in the background."""
        task = asyncio.create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except UserError as error:
            self._show_error(error)

    def cancel(self) -> None:
        """Cancel all running tasks."""
        for task in list(self._tasks):
            task.cancel()

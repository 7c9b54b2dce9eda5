"""Tasks that belong to a conversation."""

from __future__ import annotations

import asyncio
import inspect

from acp_tui.ui.conversation.runner import BackgroundTasks


async def test_work_that_is_cancelled_before_it_begins_is_closed() -> None:
    tasks = BackgroundTasks(lambda error: None)
    work = asyncio.sleep(0)
    task = tasks.start(work)
    tasks.cancel()
    await asyncio.wait([task])
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED

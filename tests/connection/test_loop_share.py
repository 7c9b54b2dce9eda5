"""The time of the event loop, shared by the connections that are busy."""

from __future__ import annotations

import asyncio

from acp_tui.connection.transport import MAX_LOOP_SECONDS, EventLoopBudget


async def test_busy_connections_share_what_one_gets_alone() -> None:
    share = EventLoopBudget()
    assert share.seconds() == MAX_LOOP_SECONDS
    await asyncio.sleep(0)
    found = [share.seconds() for _ in range(4)]
    assert found == [MAX_LOOP_SECONDS] * 4  # one was busy in the last pass
    await asyncio.sleep(0)
    assert share.seconds() == MAX_LOOP_SECONDS / 4
    await asyncio.sleep(0)
    assert share.seconds() == MAX_LOOP_SECONDS

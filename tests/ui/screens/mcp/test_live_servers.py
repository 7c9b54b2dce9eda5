"""The connections of the MCP screen to servers that end slowly."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from acp_tui.ui.screens.mcp.live_servers import LiveServer, LiveServers
from tests.support.waiting import until


class SlowlyEnding(LiveServers):
    """Connections that end when `may_end` is set, as those of a server that takes long to exit."""

    def __init__(self) -> None:
        super().__init__(Path("/"))
        self.is_ending, self.may_end = asyncio.Event(), asyncio.Event()

    async def _stay_connected(self, known: Any, live: LiveServer, dialogs: Any) -> None:
        live.status = "connected"
        try:
            await asyncio.Event().wait()
        finally:
            self.is_ending.set()
            await self.may_end.wait()


async def test_a_server_can_be_disconnected_while_its_old_connection_still_ends() -> None:
    servers = SlowlyEnding()
    known: Any = SimpleNamespace(key="files", can_start=True, server=SimpleNamespace(name="files"))
    servers.connect(known)
    await until(lambda: servers.status(known) == "connected")
    servers.connect(known)
    assert servers.status(known) == "connecting"
    await servers.is_ending.wait()
    servers.disconnect(known)
    await until(lambda: servers.status(known) == "disconnected")
    servers.may_end.set()
    await servers.close()

"""Connects to agents over sockets, as acp-tui does."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.agent_catalogue import Launch
from acp_tui.config.remote_address import RemoteAddress
from acp_tui.connection.errors import CannotStart
from acp_tui.connection.params import SessionSetup
from tests.support.connection import SESSION, Client, text
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SETUP = SessionSetup("/srv/project")


@contextlib.asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncIterator[Client]:
    """Yield a client that is connected to a remote agent, and close it in the end."""
    address = RemoteAddress(url, **options)
    launch = Launch("remote", "Remote Agent", [url], address=address, is_remote=True)
    client = Client(launch, Path("/"), "")
    await client.start()
    try:
        yield client
    finally:
        await client.connection.close()
        assert len(client.exits) == 1


async def fault(url: str, **options: Any) -> str:
    """Return why there is no connection."""
    with pytest.raises(CannotStart) as failed:
        async with connected(url, **options):
            pass
    return str(failed.value)


async def end(client: Client) -> str:
    """Return how the agent's title and the reason for the end of a connection read."""
    await until(lambda: client.exits)
    return client.exits[0].describe("Remote Agent")


def update(words: str) -> str:
    """Return an update with a chunk of a message."""
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
    params = {"sessionId": SESSION, "update": chunk}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})


async def prompted(client: Client) -> asyncio.Task[str]:
    """Begin a turn that does not end."""
    await client.connection.initialize({})
    await client.connection.new_session(SETUP)
    steps = json.dumps([["say", "working"], ["wait_for_cancel"]])
    turn = asyncio.create_task(client.connection.prompt(SESSION, text(steps)))
    await until(client.said)
    return turn

"""`AgentServer` in the process of the test, with shorter intervals. More is in `tests/cli/test_serve.py`."""

from __future__ import annotations

import asyncio
import sys
import uuid
from typing import TYPE_CHECKING

from acp_tui.config.agent_catalogue import Launch
from acp_tui.connection import agent_server
from tests.support.leftovers import MARK, processes_with
from tests.support.waiting import TIMEOUT_SECONDS, until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

AGENT = "import sys\nprint('{}', flush=True)\nsys.stdin.read()"
REQUEST = (
    "GET /acp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
    "Authorization: Bearer of-the-test\r\n\r\n"
)
PING = b"\x89"
"""The first byte of a frame with a ping."""


async def test_a_client_that_answers_no_ping_is_disconnected_and_its_agent_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_server, "PING_SECONDS", 0.2)
    monkeypatch.setattr(agent_server, "PONG_SECONDS", 0.2)
    mark, said = uuid.uuid4().hex, list[str]()
    launch = Launch("agent", "Agent", [sys.executable, "-c", AGENT], env={MARK: mark})
    server = agent_server.AgentServer(launch, tmp_path, "of-the-test", say=said.append)
    port = await server.start("127.0.0.1", 0, None)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST.encode())
    assert b"101 Switching Protocols" in await reader.readuntil(b"\r\n\r\n")
    async with asyncio.timeout(TIMEOUT_SECONDS):
        assert PING in await reader.read()  # everything until the server gives up
    await until(lambda: "[1] disconnected; Agent was ended" in said)
    assert processes_with(mark) == []
    writer.close()
    await server.close()

"""The socket on which bridges reach a conversation."""

from __future__ import annotations

import asyncio
import json
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller.mcp.app_socket import AppSocket
from acp_tui.mcp.app_link import AppLink
from acp_tui.mcp.json_rpc_peer import JsonRpcError, PeerClosedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from acp_tui.processes.reaper import Reaper


async def echo(params: dict[str, Any]) -> Any:
    return params["text"]


async def wait_forever(_params: dict[str, Any]) -> Any:
    await asyncio.Event().wait()


@pytest.fixture
async def app_socket(reaper: Reaper) -> AsyncIterator[AppSocket]:
    opened = AppSocket({"echo": echo, "wait": wait_forever}, reaper)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def link(app_socket: AppSocket) -> AsyncIterator[AppLink]:
    link = await AppLink.connect(app_socket.path, app_socket.session_key)
    yield link
    await link.close()


async def test_only_the_user_can_reach_the_socket(app_socket: AppSocket) -> None:
    assert stat.S_IMODE(app_socket.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(app_socket.path.parent.stat().st_mode) == 0o700
    assert len(str(app_socket.path).encode()) < 104


async def test_a_request_is_answered_with_its_result_or_an_error(link: AppLink) -> None:
    assert await link.request("echo", text="ä" * 200_000) == "ä" * 200_000
    with pytest.raises(JsonRpcError, match="does not know the method 'other'"):
        await link.request("other")


async def test_a_request_with_an_old_key_is_refused(app_socket: AppSocket) -> None:
    old = app_socket.session_key
    await app_socket.renew()
    link = await AppLink.connect(app_socket.path, old)
    with pytest.raises(JsonRpcError, match="no longer open"):
        await link.request("echo", text="x")
    await link.close()


async def test_connections_end_when_the_key_changes(app_socket: AppSocket, link: AppLink) -> None:
    waiting = asyncio.create_task(link.request("wait"))
    await link.request("echo", text="x")
    await app_socket.renew()
    with pytest.raises(PeerClosedError):
        await waiting
    await link.wait_closed()


async def test_lines_that_are_no_requests_are_ignored(app_socket: AppSocket) -> None:
    reader, writer = await asyncio.open_unix_connection(str(app_socket.path))
    key = app_socket.session_key
    request = {"id": 1, "method": "echo", "params": {"session": key, "text": "x"}}
    writer.write(b'\n[1]\nnot JSON\n{"id":7,"result":1}\n' + json.dumps(request).encode() + b"\n")
    assert json.loads(await reader.readline()) == {"jsonrpc": "2.0", "id": 1, "result": "x"}
    writer.close()
    await writer.wait_closed()


async def test_closing_deletes_the_socket_and_its_folder(app_socket: AppSocket, link: AppLink) -> None:
    folder = app_socket.path.parent
    await app_socket.close()
    await link.wait_closed()
    assert not folder.exists()


@pytest.mark.parametrize("steps", range(8))
async def test_closing_ends_a_connection_that_was_just_made(app_socket: AppSocket, steps: int) -> None:
    reader, writer = await asyncio.open_unix_connection(str(app_socket.path))
    for _ in range(steps):
        await asyncio.sleep(0)
    await app_socket.close()
    async with asyncio.timeout(60):
        with suppress(ConnectionError):
            assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()

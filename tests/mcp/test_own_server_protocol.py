"""acp-tui's own MCP server as the SDK's client and other MCP clients see it."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller.mcp.app_socket import AppSocket
from acp_tui.mcp.json_rpc_peer import JsonRpcError
from acp_tui.mcp.own_server import McpMessages
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from acp_tui.processes.reaper import Reaper

ECHO = {"name": "echo", "description": "Repeat", "inputSchema": {"type": "object"}}
NEW = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


class EchoTools:
    """A server with one tool, which repeats its arguments, or waits if there are none."""

    def __init__(self) -> None:
        self.running = 0

    async def tools(self) -> list[dict[str, Any]]:
        return [ECHO]

    async def call(self, _name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.running += 1
        try:
            if not arguments:
                await asyncio.Event().wait()
        finally:
            self.running -= 1
        return {"content": [{"type": "text", "text": str(arguments)}], "isError": False}


@pytest.fixture
def echo_tools() -> EchoTools:
    return EchoTools()


async def ignore(_method: str, _params: dict[str, Any]) -> None:
    """Drop a notification."""


async def answer(method: str, params: Any = None) -> dict[str, Any]:
    return await McpMessages(EchoTools()).answer(method, params, ignore)


# --------------------------------------------------------------------------- with the SDK


@pytest.fixture
async def app_socket(echo_tools: EchoTools, reaper: Reaper) -> AsyncIterator[AppSocket]:
    async def tools(_params: dict[str, Any]) -> Any:
        return await echo_tools.tools()

    async def tool(params: dict[str, Any]) -> Any:
        return await echo_tools.call(params["name"], params["arguments"])

    opened = AppSocket({"tools": tools, "tool": tool}, reaper)
    await opened.open()
    yield opened
    await opened.close()


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_a_client_of_the_sdk_lists_calls_and_cancels(
    mode: str, version: str, app_socket: AppSocket, echo_tools: EchoTools
) -> None:
    from mcp import Client, StdioServerParameters, stdio_client

    where = ["--socket", str(app_socket.path), "--session", app_socket.session_key]
    program = StdioServerParameters(command=sys.executable, args=["-m", "acp_tui", "mcp", "serve", *where])
    async with Client(stdio_client(program), mode=mode) as client:
        assert client.protocol_version == version
        assert client.server_info is not None
        assert client.server_info.name == "acp-tui"
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        result = await client.call_tool("echo", {"a": "ä"})
        assert result.content[0].text == "{'a': 'ä'}"  # type: ignore[union-attr]
        waiting = asyncio.create_task(client.call_tool("echo", {}))
        await until(lambda: echo_tools.running == 1)
        waiting.cancel()
        await until(lambda: echo_tools.running == 0)


# --------------------------------------------------------------------------- single messages


async def test_the_version_is_that_of_the_client_or_the_newest_with_a_handshake() -> None:
    assert (await answer("initialize", {"protocolVersion": "2025-03-26"}))["protocolVersion"] == "2025-03-26"
    assert (await answer("initialize", {"protocolVersion": "1999-01-01"}))["protocolVersion"] == "2025-11-25"


async def test_new_revisions_get_the_fields_that_they_require() -> None:
    found = await answer("server/discover", NEW)
    assert (found["supportedVersions"], found["resultType"]) == (["2026-07-28"], "complete")
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "acp-tui"
    assert (await answer("tools/list", NEW))["cacheScope"] == "private"
    assert set(await answer("tools/list")) == {"tools"}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("initialize", NEW, -32601),
        ("prompts/list", None, -32601),
        ("tools/call", None, -32602),
        ("tools/call", {"name": "echo", "arguments": 3}, -32602),
        ("tools/call", {"name": "other"}, -32602),
        ("tools/list", [], -32602),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}}, -32022),
    ],
)
async def test_what_cannot_be_answered_is_an_error(method: str, params: Any, code: int) -> None:
    with pytest.raises(JsonRpcError) as error:
        await answer(method, params)
    assert error.value.code == code


async def test_a_client_that_wants_it_is_told_that_a_call_still_runs(echo_tools: EchoTools) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    async def notify(method: str, params: dict[str, Any]) -> None:
        sent.append((method, params))

    messages = McpMessages(echo_tools, progress_seconds=0.001)
    params = {"name": "echo", "_meta": {"progressToken": "t"}}
    call = asyncio.create_task(messages.answer("tools/call", params, notify))
    await until(lambda: len(sent) > 1)
    call.cancel()
    await asyncio.wait([call])
    assert [params["progress"] for _, params in sent[:2]] == [1, 2]
    assert {(method, params["progressToken"]) for method, params in sent} == {("notifications/progress", "t")}

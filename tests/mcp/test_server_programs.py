"""The servers of `tests/mcp/servers/` talk to the client of the official SDK."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.mcp_servers import ServerLog, stdio_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PROTOCOLS = ["2025-06-18", "2025-11-25", "2026-07-28"]


async def _answer_form(context: Any, params: Any) -> mcp_types.ElicitResult:
    return mcp_types.ElicitResult(action="accept", content={"name": "Ada"})


@asynccontextmanager
async def _connect(protocol: str, log: ServerLog) -> AsyncIterator[Client]:
    program, *args = stdio_command("--protocol", protocol, "--page-size", "5")
    parameters = StdioServerParameters(command=program, args=args, env={"MCP_SERVER_LOG": str(log.path)})
    with open(log.path.with_suffix(".stderr"), "w") as stderr:
        transport = stdio_client(parameters, errlog=stderr)
        mode = "auto" if protocol == PROTOCOLS[-1] else "legacy"
        async with Client(transport, mode=mode, elicitation_callback=_answer_form) as client:
            assert client.protocol_version == protocol
            yield client


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_stdio_server_speaks_every_protocol_version(protocol: str, server_log: ServerLog) -> None:
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async with _connect(protocol, server_log) as client:
        page = await client.list_tools()
        await client.call_tool("progress", {"steps": 2}, progress_callback=on_progress)
        content = (await client.call_tool("content")).content
        [answer] = (await client.call_tool("ask")).content
    assert (len(page.tools), page.next_cursor) == (5, "5")
    assert steps == [1, 2]
    kinds = ["text", "image", "audio", "resource_link", "resource", "resource"]
    assert [block.type for block in content] == kinds
    assert isinstance(answer, mcp_types.TextContent)
    assert json.loads(answer.text) == {"action": "accept", "content": {"name": "Ada"}}
    assert server_log.calls()[0] == ("progress", {"steps": 2})

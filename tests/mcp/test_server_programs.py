"""The servers of `tests/mcp/servers/` talk to the client of the official SDK."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import mcp_types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.support.mcp_servers import HttpServers, ServerLog, stdio_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PROTOCOLS = ["2025-06-18", "2025-11-25", "2026-07-28"]


class MemoryStorage:
    """Keeps the tokens of one sign-in."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """Opens the URL of a sign-in and reads where it is redirected."""

    def __init__(self) -> None:
        self.visits = 0
        self.answer: dict[str, str] = {}

    async def open(self, url: str) -> None:
        self.visits += 1
        async with httpx2.AsyncClient() as http:
            response = await http.get(url)
        self.answer = dict(parse_qsl(urlsplit(response.headers["location"]).query))

    async def read(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.answer)


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


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_http_server_speaks_both_generations_of_the_protocol(
    mode: str, http_servers: HttpServers, http_log: ServerLog
) -> None:
    transport = streamable_http_client(http_servers.url("/mcp"))
    async with Client(transport, mode=mode, elicitation_callback=_answer_form) as client:
        assert (client.protocol_version == PROTOCOLS[-1]) is (mode == "auto")
        [answer] = (await client.call_tool("ask")).content
    assert isinstance(answer, mcp_types.TextContent)
    assert json.loads(answer.text) == {"action": "accept", "data": {"name": "Ada", "age": 7}}
    assert ("ask", {}) in http_log.calls()


async def test_sse_server_answers(http_servers: HttpServers) -> None:
    async with Client(sse_client(http_servers.url("/sse")), mode="legacy") as client:
        result = await client.call_tool("echo", {"text": "hello"})
    assert result.structured_content == {"result": "hello"}


async def test_other_urls_fail_as_they_say(http_servers: HttpServers) -> None:
    async with httpx2.AsyncClient() as http:
        statuses = [
            (await http.post(http_servers.url(path))).status_code for path in ("/status/403", "/key/mcp")
        ]
        redirect = await http.post(http_servers.url("/away"))
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            await http.get(http_servers.tls_url("/page"))
    assert statuses == [403, 401]
    assert redirect.headers["location"] == f"http://localhost:{http_servers.port}/mcp"


async def test_guarded_server_wants_a_token_and_the_token_can_be_refreshed(
    http_servers: HttpServers, http_log: ServerLog
) -> None:
    url, browser = http_servers.url("/guarded/programs/mcp"), Browser()
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl("http://127.0.0.1:1/callback")], client_name="test")
    auth = OAuthClientProvider(url, metadata, MemoryStorage(), browser.open, browser.read)
    async with (
        httpx2.AsyncClient(auth=auth) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await client.call_tool("echo", {"text": "first"})
        auth.context.token_expiry_time = 1
        async with httpx2.AsyncClient() as other:
            await other.post(http_servers.url("/as/programs/expire"))
        await client.call_tool("echo", {"text": "second"})
    grants = [message["params"]["grant_type"] for message in http_log.messages("oauth/token")]
    assert grants == ["authorization_code", "refresh_token"]
    assert browser.visits == 1

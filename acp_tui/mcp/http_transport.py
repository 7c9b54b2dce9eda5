"""Opens streamable HTTP and SSE transports, and remembers what the server answered on the level of HTTP.

The SDK turns every error status into "Server returned an error response", so a hook of the HTTP client
collects what an error message needs.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.client._transport import TransportStreams

    from acp_tui.config.mcp import ResolvedServer

CONNECT_SECONDS = 30.0
"""Seconds for the connection to the host. Reading has no limit here: a stream may be idle for long."""


@dataclass(slots=True)
class HttpEvidence:
    """What the server answered on the level of HTTP."""

    status: int | None = None  # of the last response that was an error
    redirect: str = ""  # where it redirected to, without query
    redirects_away: bool = False  # whether that is another origin
    challenge: str = ""  # the WWW-Authenticate header of the last 401
    broken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a message could not be delivered over SSE, where the SDK leaves the caller waiting."""

    def add(self, response: httpx2.Response, endpoint: httpx2.URL, *, is_sse: bool) -> None:
        """Note a response."""
        request = response.request
        if request.url.host != endpoint.host:
            return  # of an authorization server
        if response.has_redirect_location:
            target = request.url.join(response.headers["location"])
            self.redirect = str(target.copy_with(userinfo=b"", query=None, fragment=None))
            self.redirects_away = _origin(target) != _origin(endpoint)
            return  # if the SDK follows it, another response comes
        if response.is_error:
            self.status = response.status_code
            if response.status_code == httpx2.codes.UNAUTHORIZED:
                self.challenge = response.headers.get("www-authenticate", "")
            if is_sse:
                self.broken.set()
        elif request.method == "POST":
            self.status, self.redirect = None, ""


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


@asynccontextmanager
async def open_http(
    server: ResolvedServer, credentials: httpx2.Auth | None, evidence: HttpEvidence
) -> AsyncGenerator[TransportStreams]:
    """Open the transport of an http or sse server."""
    endpoint = httpx2.URL(server.url)
    is_sse = server.transport == "sse"

    async def observe(response: httpx2.Response) -> None:
        evidence.add(response, endpoint, is_sse=is_sse)

    def client(
        headers: object = None,  # noqa: ARG001  # sse_client passes its own values
        timeout: object = None,  # noqa: ARG001
        auth: object = None,  # noqa: ARG001
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=server.headers,
            auth=credentials,
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
            event_hooks={"response": [observe]},
        )

    if is_sse:
        async with sse_client(server.url, httpx_client_factory=client) as streams:
            yield streams
    else:
        async with client() as http, streamable_http_client(server.url, http_client=http) as streams:
            yield streams

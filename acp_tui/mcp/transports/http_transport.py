"""Opens streamable HTTP and SSE transports, and remembers what the server answered on the level of HTTP.

The SDK turns every error status into "Server returned an error response", so the HTTP client collects what an
error message needs.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.client._transport import TransportStreams

    from acp_tui.config.mcp import ResolvedServer

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The SDK's default of 1 MB is less than a screenshot may have."""
CONNECT_SECONDS = 30.0
"""Seconds for the connection to the host. Reading has no limit here: a stream may be idle for long."""


@dataclass(slots=True)
class HttpEvidence:
    """What the server answered on the level of HTTP."""

    status: int | None = None  # of the last response that was an error
    redirect: str = ""  # where it redirected to, without query
    redirects_away: bool = False  # whether that is another origin
    was_refused: bool = False  # whether a message was answered with 401, even if signing in helped
    challenge: str = ""  # the WWW-Authenticate header of the last 401
    error: Exception | None = None  # why the last message could not be delivered
    broken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a message could not be delivered over SSE, where the SDK leaves the caller waiting."""

    def add(self, response: httpx2.Response, endpoint: httpx2.URL, *, is_sse: bool) -> None:
        """Note the response to a message."""
        request = response.request
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
            self.status, self.redirect, self.error = None, "", None


class _ObservedClient(httpx2.AsyncClient):
    """Notes how sending each message ends. Requests that `auth` makes for it are not noted."""

    def __init__(self, server: ResolvedServer, auth: httpx2.Auth | None, evidence: HttpEvidence) -> None:
        timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
        hooks = {"response": [self._note_refusal]}
        super().__init__(headers=server.headers, auth=auth, timeout=timeout, event_hooks=hooks)
        self._endpoint = httpx2.URL(server.url)
        self._is_sse = server.transport == "sse"
        self._evidence = evidence

    async def _note_refusal(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.UNAUTHORIZED and response.request.url == self._endpoint:
            self._evidence.was_refused = True

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a message."""
        try:
            response = await super().send(request, **options)
        except Exception as error:
            self._evidence.error = error
            if self._is_sse:
                self._evidence.broken.set()
            raise
        self._evidence.add(response, self._endpoint, is_sse=self._is_sse)
        return response


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


@asynccontextmanager
async def open_http(
    server: ResolvedServer, credentials: httpx2.Auth | None, evidence: HttpEvidence
) -> AsyncGenerator[TransportStreams]:
    """Open the transport of an http or sse server."""

    def client(
        headers: object = None,  # noqa: ARG001  # sse_client passes its own values
        timeout: object = None,  # noqa: ARG001
        auth: object = None,  # noqa: ARG001
    ) -> httpx2.AsyncClient:
        return _ObservedClient(server, credentials, evidence)

    if server.transport == "sse":
        async with sse_client(server.url, httpx_client_factory=client) as streams:
            yield streams
    else:
        async with (
            client() as http,
            streamable_http_client(
                server.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES
            ) as streams,
        ):
            yield streams

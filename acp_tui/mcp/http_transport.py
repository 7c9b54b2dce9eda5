"""The streamable HTTP and SSE transports, with a record of HTTP errors.

The SDK turns most error statuses into "Server returned an error response", so the HTTP client here records
the details for error messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from acp_tui.mcp.failures import CONNECT_TIMEOUT_SECONDS
from acp_tui.mcp.sign_in.request_guard import limit_answer
from acp_tui.mcp.stdio_process import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from acp_tui.config.mcp import ResolvedServer


@dataclass(slots=True)
class HttpEvidence:
    """The HTTP errors and redirects of a server."""

    status: int | None = None  # the last error status
    redirect: str = ""  # the target of the last redirect, without query
    redirects_away: bool = False  # whether the target has another origin
    was_refused: bool = False  # whether any message was answered with 401, even if a sign-in followed
    challenge: str = ""  # the WWW-Authenticate header of the last 401
    error: Exception | None = None  # why the last message could not be sent
    broken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when sending a message over SSE failed, because the SDK would wait forever for the answer."""

    def add(self, response: httpx2.Response, endpoint: httpx2.URL, *, is_sse: bool) -> None:
        """Record the response to a message."""
        request = response.request
        if response.has_redirect_location:
            target = request.url.join(response.headers["location"])
            self.redirect = str(target.copy_with(userinfo=b"", query=None, fragment=None))
            self.redirects_away = _origin(target) != _origin(endpoint)
            return  # if the SDK follows the redirect, another response comes
        if response.is_error:
            self.status = response.status_code
            if response.status_code == httpx2.codes.UNAUTHORIZED:
                self.challenge = response.headers.get("www-authenticate", "")
            if is_sse:
                self.broken.set()
        elif request.method == "POST":
            self.status, self.redirect, self.error = None, "", None


class _ObservedClient(httpx2.AsyncClient):
    """An HTTP client that records the outcome of each message, but not of the requests that `auth` sends."""

    def __init__(self, server: ResolvedServer, auth: httpx2.Auth | None, evidence: HttpEvidence) -> None:
        timeout = httpx2.Timeout(CONNECT_TIMEOUT_SECONDS, read=None)  # a stream may be idle for long
        hooks = {"response": [self._note_refusal, limit_answer]}
        super().__init__(headers=server.headers, auth=auth, timeout=timeout, event_hooks=hooks)
        self._endpoint = httpx2.URL(server.url)
        self._is_sse = server.transport == "sse"
        self._evidence = evidence

    async def _note_refusal(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.UNAUTHORIZED and response.request.url == self._endpoint:
            self._evidence.was_refused = True

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a message, and record its outcome."""
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

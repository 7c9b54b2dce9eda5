"""Limits the requests of a sign-in: where they are sent, and how long the answers may be.

The MCP server names the addresses of its authorization server. A hostile server could name other services on
this machine or in the private network, which trust requests from here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import httpx2

from acp_tui.mcp.sign_in.interaction import SignInError

MAX_ANSWER_BYTES = 1_000_000
"""The maximum length of an answer of an authorization server, and of a refusal by the MCP server."""
_EXTENSION = "acp_tui_limit"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class RequestGuard:
    """Decides which addresses the sign-in at one server may use."""

    def __init__(
        self, server_url: str, allowed: Iterable[str], ask: Callable[[str, str], Awaitable[None]]
    ) -> None:
        """Create a guard.

        Args:
            server_url: The address of the MCP server, whose host and port are always allowed.
            allowed: Other addresses that the user has allowed.
            ask: Called with an origin and where it is, such as "on this machine". Raises `SignInError` unless
                the user allows requests to this origin.
        """
        self._allowed = {_origin(httpx2.URL(server_url))[1:]}
        self._ask = ask
        self.accepted: set[str] = set()
        """The origins on this machine or in the private network that the user has allowed."""
        self.allow(allowed)

    def allow(self, addresses: Iterable[str]) -> None:
        """Allow the hosts and ports of these addresses from now on. Invalid addresses are ignored."""
        for address in addresses:
            with suppress(httpx2.InvalidURL):
                self._allowed.add(_origin(httpx2.URL(address))[1:])

    async def check(self, url: httpx2.URL) -> None:
        """Raise `SignInError` if the sign-in must not send requests to a URL."""
        scheme, host, port = origin = _origin(url)
        if (host, port) in self._allowed:
            return
        place = await _private_place(host, port)
        if place is None:
            return
        text = f"{scheme}://{_bracketed(host)}"
        if port != _DEFAULT_PORTS.get(scheme):
            text += f":{port}"
        await self._ask(text, place)
        self._allowed.add(origin[1:])
        self.accepted.add(text)


def limited(request: httpx2.Request) -> httpx2.Request:
    """Return a request of a sign-in, marked so that `limit_answer` applies to its answer."""
    request.extensions[_EXTENSION] = True
    request.headers["Accept-Encoding"] = "identity"  # a compressed answer could exceed the limit
    return request


async def limit_answer(response: httpx2.Response) -> None:
    """Limit the length of an answer to a sign-in, and of a refusal. A hook for `httpx2`.

    Reading an answer that is too long raises `SignInError`.
    """
    is_refusal = response.status_code in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN)
    if not is_refusal and _EXTENSION not in response.request.extensions:
        return
    host = response.request.url.host
    if not is_refusal and response.headers.get("content-encoding", "identity") != "identity":
        raise SignInError(f"{host} sent a compressed answer, which acp-tui did not ask for.")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _LimitedStream(response.stream, host)


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, host: str) -> None:
        self._stream = stream
        self._host = host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for block in self._stream:
            size += len(block)
            if size > MAX_ANSWER_BYTES:
                limit = f"{MAX_ANSWER_BYTES // 1_000_000} MB"
                raise SignInError(
                    f"The sign-in was stopped: an answer of {self._host} is longer than {limit}."
                )
            yield block

    async def aclose(self) -> None:
        await self._stream.aclose()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host.rstrip("."), url.port or _DEFAULT_PORTS.get(url.scheme)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def _private_place(host: str, port: int | None) -> str | None:
    """Return where a host is: "on this machine", or "in a private network".

    None if the host is public or its address is unknown.
    """
    addresses: list[Any] = [host]
    try:
        ipaddress.ip_address(host)
    except ValueError:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):  # unknown here; behind a proxy, the request may still succeed
            found = []
        addresses = [each[4][0] for each in found]
    places = [_place(ipaddress.ip_address(str(each).partition("%")[0])) for each in addresses]
    return "on this machine" if "on this machine" in places else next(filter(None, places), None)


def _place(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str | None:
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address.sixtofour or address
    if address.is_loopback or address.is_unspecified:
        return "on this machine"
    return None if address.is_global and not address.is_multicast else "in a private network"

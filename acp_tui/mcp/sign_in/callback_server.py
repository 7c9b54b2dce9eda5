"""A web server on 127.0.0.1 that receives the browser's redirect during a sign-in."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Self

from acp_tui.mcp.sign_in.redirect_answer import answer_of_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.mcp.sign_in.redirect_answer import RedirectAnswer

PATH = "/callback"
_MAX_REQUEST_BYTES = 32_768
_REQUEST_SECONDS = 10.0
PAGE_SECONDS = 2.0
"""How long to wait for the browser to receive the page with the result."""
_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>acp-tui</title>
<body style="font-family: sans-serif; margin: 3em"><p>{sentence}</p></body></html>
"""
_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n"
)


class CallbackServer:
    """A web server for `GET /callback` on a port of 127.0.0.1. Other requests get an error.

    Args:
        accept: Called with each answer. Returns the sentence for the page in the browser. Raises `ValueError`
            with such a sentence if the answer does not belong to this sign-in.
    """

    def __init__(self, accept: Callable[[RedirectAnswer], str]) -> None:
        self._accept = accept
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._server: asyncio.Server | None = None
        self._idle: set[asyncio.Task[None]] = set()  # connections that have not sent a request
        self._answering: set[asyncio.Task[None]] = set()

    def bind(self, port: int = 0) -> None:
        """Bind a port. With 0, bind any free port. Raises `OSError`."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))

    @property
    def redirect_uri(self) -> str:
        """The address to which the authorization server redirects the browser."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}{PATH}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, sock=self._socket, limit=_MAX_REQUEST_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._idle:
            task.cancel()
        if open_connections := self._idle | self._answering:  # let the browser receive its page
            await asyncio.wait(open_connections, timeout=PAGE_SECONDS)

    def close(self) -> None:
        """Release the port."""
        if self._server is not None:
            self._server.close()
        self._socket.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._idle.add(task)
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            self._idle.discard(task)
            self._answering.add(task)
            await self._answer(head.partition(b"\r\n")[0].decode("ascii", "replace"), writer)
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the browser has not sent a complete request, or has closed the connection
        finally:
            self._idle.discard(task)
            self._answering.discard(task)
            writer.close()

    async def _answer(self, request_line: str, writer: asyncio.StreamWriter) -> None:
        status, sentence = self._respond(request_line)
        body = _PAGE.format(sentence=sentence).encode()
        writer.write(f"HTTP/1.1 {status}\r\n{_HEADERS}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    def _respond(self, request_line: str) -> tuple[str, str]:
        """Return the HTTP status for a request, and the sentence to show on the page."""
        method, _, rest = request_line.partition(" ")
        target = rest.partition(" ")[0]
        if target.partition("?")[0] != PATH:
            return "404 Not Found", "There is nothing here."
        if method != "GET":
            return "405 Method Not Allowed", "Only GET is answered here."
        answer = answer_of_url(target)
        if answer is None:
            return "400 Bad Request", "This address contains neither a code nor an error."
        try:
            return "200 OK", self._accept(answer)
        except ValueError as error:
            return "400 Bad Request", str(error)

"""The transport below the SDK: JSON lines on standard input and output.

Most agents call `acp.run_agent` instead. This agent also needs what the SDK does not offer: methods that its
router does not know, fields that its models drop, the id of the request that is being answered, and updates
that follow a response at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Self

Frame = dict[str, Any]
RequestId = int | str | None

MAX_LINE_BYTES = 64 * 1024 * 1024  # a prompt may hold images

_request: ContextVar[RequestId] = ContextVar("request", default=None)
"""The id of the current request. The task that handles the request inherits it."""

_EXTENSIONS = frozenset({"session/delete", "$/cancel_request"})
"""Methods that the SDK's router does not know. An underscore before them makes it pass them on."""


class Wire:
    """The transport of `AgentSideConnection`, which calls `receive`, `send` and `close`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._after_response: dict[RequestId, Callable[[], object]] = {}
        self.client_capabilities: Frame = {}
        """The client's capabilities as sent. The SDK's models drop those that they do not know."""

    @classmethod
    async def on_stdio(cls) -> Self:
        """Open the wire on standard input and output. From now on, `print` writes to standard error.

        Raises:
            ValueError: If they are not pipes, sockets or terminals.
        """
        if not all(map(_is_stream, (0, 1))):  # epoll refuses others, such as /dev/null, without an exception
            raise ValueError("not pipes")
        output = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)  # a stray print of a library must not end up between the messages
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        # StreamReaderProtocol also implements the flow control of writing, which `drain` waits for.
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), output
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def receive(self) -> Frame | None:
        """Return the next valid frame, or None at the end of input. Malformed frames are answered here."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                self._write_error(-32600, "The message exceeds the size limit")
                continue
            if not line:
                return None
            if line.strip() and (frame := self._parse(line)) is not None:
                return frame

    async def send(self, message: Frame) -> None:
        """Write one frame. After a response, run the callback registered with `call_after_response`."""
        self.write(message)
        if "method" not in message and (callback := self._after_response.pop(message.get("id"), None)):
            callback()
        await self.drain()

    async def close(self) -> None:
        self._writer.close()

    def write(self, message: Frame) -> None:
        """Write one frame without waiting until it has left; `drain` waits."""
        # A model may produce half of a surrogate pair, which is not valid in JSON: it becomes "?".
        text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
        self._writer.write(text.encode("utf-8", "replace") + b"\n")

    async def drain(self) -> None:
        """Wait until the client has read enough of what was written.

        Raises:
            ConnectionError: If the client is gone.
        """
        await self._writer.drain()

    @property
    def request_id(self) -> RequestId:
        """The id of the request that the current task handles."""
        return _request.get()

    def call_after_response(self, callback: Callable[[], object]) -> None:
        """Call `callback` once the current request has been answered.

        For example, the commands of a new session must follow the response to `session/new`, because the
        client learns the session's id from the response.
        """
        self._after_response[_request.get()] = callback

    def _parse(self, line: bytes) -> Frame | None:
        try:
            frame = json.loads(line)
        except (ValueError, RecursionError):
            self._write_error(-32700, "Parse error")
            return None
        if not _is_well_formed(frame):
            self._write_error(-32600, "Invalid request")
            return None
        method, params, error = frame.get("method"), frame.get("params"), frame.get("error")
        if method is None:
            if error is not None and not isinstance(error, dict):  # the SDK expects an object
                return {"id": frame.get("id"), "error": {"code": -32603, "message": str(error)}}
            return dict(frame)
        _request.set(frame.get("id"))
        if method == "initialize" and isinstance(params, dict):
            capabilities = params.get("clientCapabilities")
            self.client_capabilities = capabilities if isinstance(capabilities, dict) else {}
        return {**frame, "method": f"_{method}"} if method in _EXTENSIONS else dict(frame)

    def _write_error(self, code: int, message: str) -> None:
        self.write({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


def _is_stream(descriptor: int) -> bool:
    """Return True for a pipe, a socket and a terminal."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _is_well_formed(frame: Any) -> bool:
    return (
        isinstance(frame, dict)
        and isinstance(frame.get("id"), int | str | None)
        and isinstance(frame.get("method", ""), str)
    )

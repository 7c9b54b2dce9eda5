"""The transport below the SDK: JSON lines on standard input and output.

Most agents call `acp.run_agent` instead. The demo has to do some things that the SDK does not
offer: handle methods that the SDK's router does not know, know the id of the request that a handler answers,
send updates right after a response, and send frames that are invalid on purpose.
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

from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES
from acp.stdio import stdio_streams

from acp_tui.errors import UsageError

Frame = dict[str, Any]
RequestId = int | str | None

_request: ContextVar[RequestId] = ContextVar("request", default=None)
"""The id of the current request. The task that handles the request inherits it."""

_EXTENSIONS = frozenset({"session/delete", "logout", "$/cancel_request"})
"""Protocol methods that the SDK's router does not know.

`Wire` puts an underscore before them, so that the router passes them on as extensions.
"""


class Wire:
    """The transport of `AgentSideConnection`, with the additions that the demo needs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._after_response: dict[RequestId, Callable[[], object]] = {}
        self._response_overrides: dict[RequestId, Frame] = {}
        self._pending: dict[RequestId, Frame] = {}
        self.initialize_params: Frame = {}
        """The parameters of `initialize` as sent; the SDK's models drop unknown fields."""

    @classmethod
    async def on_stdio(cls) -> Self:
        """Open the wire on standard input and output."""
        not_pipes = UsageError("standard input and output must be pipes, not files")
        if stat.S_ISCHR(os.fstat(0).st_mode) and not os.isatty(0):
            raise not_pipes  # such as /dev/null, which the event loop cannot wait for
        try:
            reader, writer = await stdio_streams(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
        except ValueError:
            raise not_pipes from None
        return cls(reader, writer)

    # ------------------------------------------------------------------ what the SDK calls

    async def receive(self) -> Frame | None:
        """Return the next valid frame, or None at the end of input. Malformed frames are answered here."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                print("demo: dropped a line that exceeds the size limit", file=sys.stderr)
                continue
            if not line:
                await asyncio.sleep(0)  # let pending requests be answered
                return None
            if line.strip() and (frame := await self._parse(line)) is not None:
                return frame

    async def send(self, message: Frame) -> None:
        """Write one frame. After a response, run the callback registered with `call_after_response`."""
        is_response = "method" not in message
        if is_response:
            message = self._response_overrides.pop(message.get("id"), message)
        elif "id" in message:
            self._pending[message["id"]] = message
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        # In the SDK, all senders wait for one shared future. A cancelled turn must not cancel that future.
        await asyncio.shield(self._writer.drain())
        if is_response and (callback := self._after_response.pop(message.get("id"), None)):
            callback()

    async def close(self) -> None:
        self._writer.close()

    # ------------------------------------------------------------------ what the demo adds

    @property
    def request_id(self) -> RequestId:
        """The id of the request that the current task handles."""
        return _request.get()

    def call_after_response(self, callback: Callable[[], object]) -> None:
        """Call `callback` once the current request has been answered.

        For example, the first updates of a new session must follow the response to `session/new`, because
        the client learns the session's id from the response.
        """
        self._after_response[_request.get()] = callback

    def override_response(self, **outcome: Any) -> None:
        """Answer the current request with `result=…` or `error=…`, bypassing the SDK's models."""
        request_id = _request.get()
        self._response_overrides[request_id] = {"jsonrpc": "2.0", "id": request_id, **outcome}

    async def notify(self, method: str, params: Frame) -> None:
        """Send a notification that the SDK may not know."""
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def write_line(self, text: str) -> None:
        """Write a line that is not a JSON-RPC frame."""
        self._writer.write(text.encode() + b"\n")
        await asyncio.shield(self._writer.drain())

    def pending_requests(self, method: str, session_id: str) -> list[RequestId]:
        """Return the ids of the demo's requests in a session that the client has not answered yet."""
        return [
            request_id
            for request_id, frame in self._pending.items()
            if frame["method"] == method and frame["params"].get("sessionId") == session_id
        ]

    # ------------------------------------------------------------------ reading

    async def _parse(self, line: bytes) -> Frame | None:
        try:
            frame: Frame = json.loads(line)
        except ValueError:
            await self._send_error(-32700, "Parse error")
            return None
        if not _well_formed(frame):
            await self._send_error(-32600, "Invalid request")
            return None
        method, error = frame.get("method"), frame.get("error")
        if method is None:
            self._pending.pop(frame.get("id"), None)
            if error is not None and not isinstance(error, dict):  # the SDK expects an object
                frame = {"id": frame.get("id"), "error": {"code": -32603, "message": str(error)}}
            return frame
        _request.set(frame.get("id"))
        if method == "initialize" and isinstance(frame.get("params"), dict):
            self.initialize_params = frame["params"]
        return {**frame, "method": f"_{method}"} if method in _EXTENSIONS else frame

    async def _send_error(self, code: int, message: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


def _well_formed(frame: Any) -> bool:
    return (
        isinstance(frame, dict)
        and isinstance(frame.get("id"), int | str | None)
        and isinstance(frame.get("method", ""), str)
    )

"""JSON-RPC 2.0 over lines of JSON, in both directions, for MCP over stdio and for the app's socket.

Does not use the MCP SDK, because importing it takes half a second and 50 MB, and an agent can start one
bridge process for each MCP server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui.protocol.json_rpc import MAX_MESSAGE_BYTES, LineSplitter, decode, is_id, own_id
from acp_tui.session.record import INTERNAL_ERROR, INVALID_REQUEST

if TYPE_CHECKING:
    RequestHandler = Callable[[str, Any, "RequestId"], Awaitable[Any]]
    """Called with the method, the parameters and the id of a request; returns the result."""
    NotificationHandler = Callable[[str, Any], None]

RequestId = int | str
CANCELLED = "notifications/cancelled"
SERVER_ERROR = -32000
"""The code for failures of an MCP server or of the connection to the server."""
_NOT_CANCELLABLE = frozenset({"initialize", "server/discover"})

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class JsonRpcError(Exception):
    """A request that was answered with an error."""

    code: int
    message: str
    data: Any = None

    def as_json(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return error if self.data is None else error | {"data": self.data}


class PeerClosedError(ConnectionError):
    """The other side has closed the connection."""


class ByteStream(Protocol):
    """A connection to another process."""

    async def read(self) -> bytes:
        """Return the next block of data; empty once the other side has closed the connection."""

    def write(self, data: bytes) -> None:
        """Write `data` without waiting until the other side takes it."""

    async def drain(self) -> None:
        """Wait until the connection can take more data."""


class JsonRpcPeer:
    """One side of a connection. Sends requests, and answers requests of the other side, each in a task.

    When the other side sends `notifications/cancelled`, the task of the named request is cancelled, and the
    request is not answered. When a task that awaits `request` is cancelled, this side sends
    `notifications/cancelled`, except for the methods in `_NOT_CANCELLABLE`.
    """

    def __init__(
        self,
        stream: ByteStream,
        *,
        on_request: RequestHandler,
        on_notification: NotificationHandler = lambda _method, _params: None,
        on_noise: Callable[[bytes], None] = lambda _line: None,
        max_line_bytes: int = MAX_MESSAGE_BYTES,
    ) -> None:
        """Create one side of a connection. Nothing is received until `run` is called.

        Args:
            stream: The connection.
            on_request: Answers a request, or raises `JsonRpcError`.
            on_notification: Called with each notification other than `notifications/cancelled`.
            on_noise: Called with each line that is not a message.
            max_line_bytes: The maximum length of a line. A longer line counts as noise.
        """
        self._stream = stream
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_noise = on_noise
        self._splitter = LineSplitter(max_line_bytes)
        self._waiting: dict[RequestId, asyncio.Future[Any]] = {}
        self._serving: dict[RequestId, asyncio.Task[None]] = {}
        self._last_id = 0
        self._closed = False

    async def run(self) -> None:
        """Receive messages until the other side closes the connection."""
        try:
            while block := await self._stream.read():
                for line in self._splitter.feed(block):
                    self._receive_line(line)
        except ConnectionError:
            pass
        finally:
            self._closed = True
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(PeerClosedError("the connection was closed"))
            tasks = list(self._serving.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # ----------------------------------------------------------------- sending

    async def request(self, method: str, params: Any = None, *, request_id: RequestId | None = None) -> Any:
        """Send a request and return its result. Raises `JsonRpcError` and `PeerClosedError`.

        A new id is chosen if `request_id` is None or already in use.
        """
        if self._closed:
            raise PeerClosedError("the connection was closed")
        if request_id is None or request_id in self._waiting:
            self._last_id += 1
            request_id = f"acp-tui-{self._last_id}"
        future = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        try:
            self._send({"id": request_id, "method": method}, params)
            await self._stream.drain()
            return await future
        except asyncio.CancelledError:
            if method not in _NOT_CANCELLABLE:
                self.notify(CANCELLED, {"requestId": request_id, "reason": "The request was cancelled."})
            raise
        finally:
            del self._waiting[request_id]
            if future.done() and not future.cancelled():
                future.exception()  # mark it as retrieved: the waiting task may have been cancelled

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification. Does nothing if the connection is closed."""
        with contextlib.suppress(ConnectionError):
            self._send({"method": method}, params)

    def _send(self, message: dict[str, Any], params: Any = None) -> None:
        if params is not None:
            message["params"] = params
        if not self._closed:
            line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
            self._stream.write(line.encode() + b"\n")

    # ----------------------------------------------------------------- receiving

    def _receive_line(self, line: bytes) -> None:
        if not line.strip():
            return
        message = decode(line)
        for part in message if isinstance(message, list) else [message]:  # a list is a batch
            if isinstance(part, dict):
                self._receive(part)
            else:
                self._on_noise(line)

    def _receive(self, message: dict[str, Any]) -> None:
        method, request_id = message.get("method"), message.get("id")
        if not isinstance(method, str):
            self._receive_answer(request_id, message)
        elif "id" not in message:
            self._receive_notification(method, message.get("params"))
        elif not is_id(request_id):
            error = JsonRpcError(INVALID_REQUEST, "The id of a request must be a string or an integer.")
            self._send({"id": None, "error": error.as_json()})
        elif request_id not in self._serving:  # else ignored: the answers could not be told apart
            task = asyncio.create_task(self._serve(request_id, method, message.get("params")))
            self._serving[request_id] = task
            task.add_done_callback(lambda _: self._serving.pop(request_id, None))

    def _receive_answer(self, request_id: Any, message: dict[str, Any]) -> None:
        request_id = own_id(request_id, self._waiting)
        future = self._waiting.get(request_id) if is_id(request_id) else None
        if future is None or future.done():
            return
        if "error" in message and message["error"] is not None:
            error = message["error"] if isinstance(message["error"], dict) else {"message": message["error"]}
            code, text = error.get("code"), error.get("message")
            code = code if isinstance(code, int) else INTERNAL_ERROR
            future.set_exception(JsonRpcError(code, str(text or "unknown error"), error.get("data")))
        else:
            future.set_result(message.get("result"))

    def _receive_notification(self, method: str, params: Any) -> None:
        if method != CANCELLED:
            self._on_notification(method, params)
            return
        request_id = params.get("requestId") if isinstance(params, dict) else None
        task = self._serving.get(request_id) if is_id(request_id) else None
        if task is not None:
            task.cancel()

    async def _serve(self, request_id: RequestId, method: str, params: Any) -> None:
        try:
            answer = {"result": await self._on_request(method, params, request_id)}
        except JsonRpcError as error:
            answer = {"error": error.as_json()}
        except PeerClosedError as error:
            answer = {"error": JsonRpcError(SERVER_ERROR, f"{error}").as_json()}
        except Exception as error:  # the other side must not be left waiting
            log.exception("The request %s failed", method)
            answer = {"error": JsonRpcError(INTERNAL_ERROR, f"{type(error).__name__}: {error}").as_json()}
        with contextlib.suppress(ConnectionError):
            self._send({"id": request_id, **answer})
            await self._stream.drain()


class SocketStream:
    """A connected pair of asyncio streams as a `ByteStream`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        """Return the next block of data; empty once the other side has closed the connection."""
        return await self._reader.read(1 << 18)

    def write(self, data: bytes) -> None:
        """Write `data` without waiting until the other side takes it."""
        self._writer.write(data)

    async def drain(self) -> None:
        """Wait until the connection can take more data."""
        await self._writer.drain()

    async def close(self) -> None:
        """Close the connection. Never raises."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

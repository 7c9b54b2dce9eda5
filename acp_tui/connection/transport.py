"""Frames between us and the agent: observed in wire order before anything acts on them.

This is the SDK's `Transport`. It hands the SDK well-formed requests and answers only: the SDK would make a
task for every notification, and its receive loop would end at the first odd envelope and leave callers
hanging.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from acp_tui.connection.line_splitter import MAX_LINE_BYTES, LineSplitter
from acp_tui.session.record import Record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.connection.agent_requests import PendingRequests
    from acp_tui.connection.process import AgentProcess

    Observe = Callable[[Record, str | None], None]

MAX_LOOP_SECONDS = 0.0015
"""Seconds of uninterrupted work after which the event loop gets a turn."""
INVALID_REQUEST = -32600
MALFORMED_ANSWER = -32603

log = logging.getLogger(__name__)


class SentRequest:
    """Learns the id that the SDK gives to a request of ours."""

    request_id: int | None = None


CURRENT_CALL: ContextVar[SentRequest | None] = ContextVar("CURRENT_CALL", default=None)


class WireTransport:
    """One JSON-RPC message a line, over the agent's standard streams."""

    def __init__(
        self,
        process: AgentProcess,
        incoming: PendingRequests,
        observe: Observe,
        *,
        on_end: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        line_limit: int = MAX_LINE_BYTES,
    ) -> None:
        self.observe = observe
        self._process = process
        self._incoming = incoming
        self._on_end = on_end
        self._clock = clock
        self._splitter = LineSplitter(line_limit)
        self._lines: deque[bytes] = deque()
        self._passed_on: deque[dict[str, Any]] = deque()
        self._asked: set[int] = set()  # ids of our requests that have no answer yet
        self._ended = False
        self._turn_ends = 0.0

    # ----------------------------------------------------------------- receiving

    async def receive(self) -> dict[str, Any] | None:
        """The next message that the SDK has to act on; None when the agent is gone."""
        lines, passed_on = self._lines, self._passed_on
        while not passed_on:
            if time.monotonic() > self._turn_ends:
                await asyncio.sleep(0)
                self._turn_ends = time.monotonic() + MAX_LOOP_SECONDS
            if lines:
                self._take(lines.popleft())
            elif self._ended:
                await self._on_end()
                return None
            else:
                await self._read()
        return passed_on.popleft()

    async def _read(self) -> None:
        try:
            block = await self._process.read()
        except OSError:
            block = b""
        if block:
            self._lines.extend(self._splitter.feed(block))
        else:
            self._ended = True
            self._lines.append(self._splitter.rest())

    def _take(self, line: bytes) -> None:
        """One line: observe it, then pass on what needs an action. The hot path."""
        if not line or line.isspace():
            return
        text = line.decode("utf-8", "replace")
        try:
            frame = json.loads(text)
        except (ValueError, RecursionError):
            frame = text  # noise: the translator makes it visible
        self._observed(Record(self._clock(), "received", frame), text)
        if frame.__class__ is dict:
            if "method" not in frame:
                self._take_answer(frame)
            elif "id" in frame:
                self._take_request(frame)
            elif frame["method"] == "$/cancel_request":
                params = frame.get("params")
                self._incoming.withdraw(params.get("requestId") if isinstance(params, dict) else None)
        elif frame.__class__ is list:
            for item in frame:
                self._take_from_batch(item)

    def _take_request(self, frame: dict[str, Any]) -> None:
        request_id, method, params = frame["id"], frame["method"], frame.get("params")
        if not isinstance(request_id, int | str) or isinstance(request_id, bool):
            return  # cannot be answered; it has been observed
        if not isinstance(method, str):
            error = {"code": INVALID_REQUEST, "message": "Invalid request"}
            with contextlib.suppress(ConnectionError):
                self.post({"jsonrpc": "2.0", "id": request_id, "error": error})
        elif self._incoming.register(request_id, method, params):
            self._passed_on.append(frame)

    def _take_answer(self, frame: dict[str, Any]) -> None:
        request_id = frame.get("id")
        if isinstance(request_id, str) and request_id.isdecimal() and len(request_id) < 10:
            request_id = int(request_id)  # our numbers may come back as text
        if not isinstance(request_id, int) or isinstance(request_id, bool) or request_id not in self._asked:
            return  # an answer to nothing, or a second one; it has been observed
        self._asked.discard(request_id)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
        if frame.get("error") is not None:
            answer["error"] = {
                "code": MALFORMED_ANSWER,
                "message": "",
                "data": frame["error"],
            }  # read from `data`
        elif "result" in frame:
            answer["result"] = frame["result"]
        else:
            answer["error"] = {
                "code": MALFORMED_ANSWER,
                "message": "",
                "data": "an answer with neither result nor error",
            }
        self._passed_on.append(answer)

    def _take_from_batch(self, item: Any) -> None:
        """ACP has no batches. What answers us in one must still not leave its caller waiting."""
        if isinstance(item, dict) and "method" not in item:
            self._take_answer({"id": item.get("id"), "error": "the answer came inside a JSON array"})

    # ----------------------------------------------------------------- sending

    async def send(self, message: dict[str, Any]) -> None:
        """Observe and write one message, then wait while the agent is behind with reading."""
        try:
            self.post(message)
        finally:
            if "method" not in message:
                self._incoming.answered(message["id"])
        await self._process.drain()

    def post(self, message: dict[str, Any]) -> None:
        """Observe and write one message without waiting. Raises `ConnectionError` when nobody reads it."""
        error = message.get("error")
        if error is not None and error.get("data", ...) is None:
            del error["data"]
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        try:
            data = line.encode()
        except UnicodeEncodeError:  # half of a surrogate pair: only an escape can carry it
            line = json.dumps(message, separators=(",", ":"))
            data = line.encode()
        if not self._process.writable:
            raise ConnectionResetError("the agent's input is closed")
        if "method" in message and "id" in message:
            self._asked.add(message["id"])
            if (sent := CURRENT_CALL.get()) is not None:
                sent.request_id = message["id"]
        self._observed(Record(self._clock(), "sent", message), line)
        self._process.write(data + b"\n")

    async def close(self) -> None:
        """The process is closed by its owner."""

    def _observed(self, record: Record, line: str) -> None:
        try:
            self.observe(record, line)
        except Exception:  # a fault in reading must not cut the conversation
            log.exception("a frame could not be taken in")

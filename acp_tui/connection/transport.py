"""The transport between acp-tui and an agent. Every frame is observed in wire order before it takes effect.

`WireTransport` implements the SDK's `Transport`, but passes on only well-formed requests and answers. Given
all messages, the SDK would start a task for each notification, and its receive loop would stop at the first
malformed envelope and leave callers waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.protocol import json_rpc
from acp_tui.protocol.client_records import to_record
from acp_tui.protocol.json_rpc import MAX_MESSAGE_BYTES, NOT_JSON, LineSplitter, decode, is_id, own_id
from acp_tui.session.events import Noticed, WrittenByHand
from acp_tui.session.record import INTERNAL_ERROR, INVALID_REQUEST, Record

if TYPE_CHECKING:
    from acp_tui.connection.agent_process import AgentProcess
    from acp_tui.connection.http_agent import HttpAgent
    from acp_tui.connection.pending_requests import PendingRequests
    from acp_tui.connection.remote_agent import RemoteAgent

    Endpoint = AgentProcess | RemoteAgent | HttpAgent
    Observe = Callable[[Record, str | None], None]


MAX_LOOP_SECONDS = 0.0015
"""How long, in one pass of the event loop, messages of agents may be processed before other tasks get a turn.

It is short because the effect of a key press is shown only after several passes.
"""


log = logging.getLogger(__name__)


class SentRequest:
    """Captures the request id that the SDK assigns."""

    def __init__(self, faults: list[str] | None = None) -> None:
        """`faults` are those of a request that the user wrote, see `post`."""
        self.faults = faults
        self.request_id: int | None = None


CURRENT_CALL: ContextVar[SentRequest | None] = ContextVar("CURRENT_CALL", default=None)


@dataclass(slots=True)
class Batch:
    """The requests of one batch that have no answer yet, and the answers to the others."""

    waiting: set[int | str] = field(default_factory=set)
    answers: list[dict[str, Any]] = field(default_factory=list)


class WireTransport:
    """JSON-RPC over the agent's stdin and stdout, one message per line, or over a remote connection."""

    def __init__(
        self,
        process: Endpoint,
        incoming: PendingRequests,
        observe: Observe,
        *,
        on_end: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        line_limit: int = MAX_MESSAGE_BYTES,
    ) -> None:
        self.observe = observe
        self.takes_request: Callable[[dict[str, Any]], bool] = lambda _: False
        """Called with each request of the agent; returns True if someone will call `answer` for it."""
        self._process = process
        self._incoming = incoming
        self._on_end = on_end
        self._clock = clock
        self._splitter = LineSplitter(line_limit)
        self._lines: deque[bytes] = deque()
        self._for_sdk: deque[dict[str, Any]] = deque()
        self.has_batches = False
        """Whether the agent's version of the protocol allows several messages in one array."""
        self._batched: deque[dict[str, Any]] = deque()  # messages of a batch that are still to be dispatched
        self._batches: dict[int | str, Batch] = {}  # by the ids of their unanswered requests
        self._pending: dict[int, str] = {}  # our unanswered requests: id and method
        self._unanswered: dict[int, str] = {}  # the requests that we no longer wait for: id and method
        self._fault: str | None = None  # the last fault in how messages are separated, see `line_fault`
        self._has_output = False
        self._ended = False
        self._yield_at = 0.0

    # ----------------------------------------------------------------- receiving

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message for the SDK; None if the agent is gone."""
        lines, for_sdk = self._lines, self._for_sdk
        while not for_sdk:
            if time.monotonic() > self._yield_at:
                await asyncio.sleep(0)
                self._yield_at = time.monotonic() + LOOP_SHARE.seconds()
            if self._batched:
                self._dispatch(self._batched.popleft())
            elif lines:
                self._receive_line(lines.popleft())
            elif self._ended:
                await self._on_end()
                return None
            else:
                await self._read()
        return for_sdk.popleft()

    async def _read(self) -> None:
        try:
            block = await self._process.read()
        except OSError:
            block = b""
        if block:
            self._has_output = True
            self._lines.extend(self._splitter.feed(block))
        else:
            self._ended = True
            size = self._splitter.pending
            rest = self._splitter.rest()
            if rest and not rest.isspace():
                self.report(f"The agent's {json_rpc.unended_fault(size)}")
                self._unanswered.clear()  # the missing line end, not a late flush, is why no answer was seen
            self._lines.append(rest)

    def _receive_line(self, line: bytes) -> None:
        """Pass one line to `observe`, then dispatch it. This method is the hot path."""
        if not line or line.isspace():
            return
        text = line.decode("utf-8", "replace")
        frame = decode(text)
        if frame is NOT_JSON:
            frame = self._read_faulty(text)
        self._observe(Record(self._clock(), "received", frame), text)
        if frame.__class__ is dict:
            self._dispatch(frame)
        elif frame.__class__ is list and self.has_batches:
            self._receive_batch(frame)
        elif frame.__class__ is list:
            for item in frame:
                self._receive_from_batch(item)

    def _dispatch(self, frame: dict[str, Any]) -> None:
        if "method" not in frame:
            self._receive_answer(frame)
        elif "id" in frame:
            self._receive_request(frame)
        elif frame["method"] == "$/cancel_request":
            params = frame.get("params")
            self._incoming.withdraw(params.get("requestId") if isinstance(params, dict) else None)

    def _receive_batch(self, items: list[Any]) -> None:
        """Take the messages of a batch one by one. Its requests are answered together, in one array."""
        batch = Batch()
        invalid = {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": INVALID_REQUEST, "message": "Invalid request"},
        }
        for item in items:
            if not isinstance(item, dict):
                batch.answers.append(invalid)
                continue
            self._batched.append(item)
            if "method" in item and is_id(item.get("id")) and item["id"] not in self._batches:
                batch.waiting.add(item["id"])
                self._batches[item["id"]] = batch
        if not items:
            self._post_if_open(invalid)
        elif not batch.waiting and batch.answers:
            self._post_if_open(batch.answers)

    def _post_if_open(self, message: dict[str, Any] | list[dict[str, Any]]) -> None:
        with contextlib.suppress(ConnectionError):
            self._post(message)

    def _read_faulty(self, text: str) -> Any:
        """Return the message behind a byte order mark, or the text itself: the translator reports it."""
        if text.startswith(json_rpc.BYTE_ORDER_MARK):
            frame = decode(text.removeprefix(json_rpc.BYTE_ORDER_MARK))
            if frame is not NOT_JSON:
                self.report(f"The agent's {json_rpc.MARKED}")
                return frame
        self._fault = json_rpc.line_fault(text) or self._fault
        return text

    def report(self, sentence: str, is_fault: bool = True) -> None:
        """Record a fault of the agent, or another fact, that the frames in the log do not show."""
        notice = to_record(Noticed("warning" if is_fault else "info", sentence, source="protocol"))
        self._observe(Record(self._clock(), "client", notice), None)

    def _receive_request(self, frame: dict[str, Any]) -> None:
        request_id, method = frame["id"], frame["method"]
        if not is_id(request_id):
            return  # no valid id to answer to; already observed
        if not isinstance(method, str):
            error = {"code": INVALID_REQUEST, "message": "Invalid request"}
            with contextlib.suppress(ConnectionError):
                self.post({"jsonrpc": "2.0", "id": request_id, "error": error})
        elif self._incoming.register(request_id) and not self.takes_request(frame):
            self._for_sdk.append(frame)

    def _receive_answer(self, frame: dict[str, Any]) -> None:
        request_id = own_id(frame.get("id"), self._pending)
        if not is_id(request_id) or request_id not in self._pending:
            return  # unknown id or second answer; already observed
        del self._pending[request_id]
        if (method := self._unanswered.pop(request_id, None)) is not None and not self._process.writable:
            self.report(json_rpc.LATE.format(method=method))
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
        if frame.get("error") is not None:
            # Errors come in every shape: the whole error goes to `data`, where `RpcConnection.call` reads it.
            answer["error"] = {"code": INTERNAL_ERROR, "message": "", "data": frame["error"]}
        elif "result" in frame:
            answer["result"] = frame["result"]
        else:
            answer["error"] = {
                "code": INTERNAL_ERROR,
                "message": "",
                "data": "invalid answer (neither result nor error)",
            }
        self._for_sdk.append(answer)

    def _receive_from_batch(self, item: Any) -> None:
        """If an item of a JSON-RPC batch answers a request of ours, make that request fail.

        ACP does not support batches.
        """
        if isinstance(item, dict) and "method" not in item:
            self._receive_answer(
                {
                    "id": item.get("id"),
                    "error": "the agent answered in a JSON-RPC batch, which ACP does not support",
                }
            )

    def give_up(self, request_id: int | None, method: str) -> str:
        """Note that nobody waits for an answer any more. Return a sentence that may explain the silence."""
        if request_id is not None:
            self._unanswered[request_id] = method
        return self.stdout_fault() or ("" if self._has_output else json_rpc.SILENT)

    def give_up_all(self) -> str:
        """Note that nobody waits for any answer. Return sentences that name the requests and the fault."""
        methods = ", ".join(dict.fromkeys(self._pending.values()))
        waited = f"No answer to {methods} came." if methods else ""
        self._unanswered.update(self._pending)
        fault = self.stdout_fault() or ("" if self._has_output else json_rpc.SILENT)
        return f"{waited} {fault}".strip()

    def stdout_fault(self) -> str:
        """Return a sentence about output that is not separated into messages; empty if all of it is."""
        fault, size = self._fault, self._splitter.pending
        if fault is None and size:
            fault = json_rpc.unended_fault(size)
        return "" if fault is None else f"Its {fault}."

    # ----------------------------------------------------------------- sending

    async def send(self, message: dict[str, Any]) -> None:
        """Pass a message to `observe` and write it, then wait while the pipe is full."""
        try:
            self.post(message)
        finally:
            if "method" not in message:
                self._incoming.mark_answered(message["id"])
        await self._process.drain()

    def answer(self, request_id: int | str, answer: dict[str, Any]) -> None:
        """Answer a request that `takes_request` took, with a `result` or an `error`."""
        try:
            self.post({"jsonrpc": "2.0", "id": request_id, **answer})
        finally:
            self._incoming.mark_answered(request_id)

    def post(self, message: dict[str, Any], faults: list[str] | None = None) -> None:
        """Pass a message to `observe` and write it, without waiting.

        An answer to a request of a batch is held back until all requests of the batch are answered. Raises
        `ConnectionError` if stdin is closed. If `faults` is given, the user wrote the message, and a record
        before it says so. The faults are sentences on what the schema does not allow in it.
        """
        error = message.get("error")
        if error is not None and error.get("data", ...) is None:
            del error["data"]
        batch = None if "method" in message else self._batches.pop(message["id"], None)
        if batch is None:
            self._post(message, faults)
            return
        batch.answers.append(message)
        batch.waiting.discard(message["id"])
        if not batch.waiting:
            self._post(batch.answers)

    def _post(self, message: dict[str, Any] | list[dict[str, Any]], faults: list[str] | None = None) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        try:
            data = line.encode()
        except UnicodeEncodeError:  # a lone surrogate has to be escaped
            line = json.dumps(message, separators=(",", ":"))
            data = line.encode()
        if not self._process.writable:
            raise ConnectionResetError("the agent's stdin is closed")
        if isinstance(message, dict) and "method" in message and "id" in message:
            self._pending[message["id"]] = message["method"]
            if (sent := CURRENT_CALL.get()) is not None:
                sent.request_id, faults = message["id"], sent.faults
        if faults is not None and isinstance(message, dict):
            mark = to_record(WrittenByHand(message["method"], message.get("id"), faults))
            self._observe(Record(self._clock(), "client", mark), None)
        self._observe(Record(self._clock(), "sent", message), line)
        self._process.write(data + b"\n")

    async def close(self) -> None:
        """Do nothing: `RpcConnection` closes the process."""

    def _observe(self, record: Record, line: str | None) -> None:
        try:
            self.observe(record, line)
        except Exception:  # a bug in an observer must not end the connection
            log.exception("Observing a frame failed")


# --------------------------------------------------------------------------- sharing the event loop


class EventLoopBudget:
    """Counts the busy connections in each pass of the event loop, and divides the next pass among them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._busy = 0  # connections that asked for their share in this pass
        self._busy_before = 1  # the same for the previous pass

    def seconds(self) -> float:
        """Count the caller as busy, and return how long the caller may process messages in this pass."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._busy, self._busy_before = loop, 0, 1
        if self._busy == 0:
            loop.call_soon(self._end_pass)
        self._busy += 1
        return MAX_LOOP_SECONDS / self._busy_before

    def _end_pass(self) -> None:
        self._busy_before, self._busy = self._busy, 0


LOOP_SHARE = EventLoopBudget()
"""The instance that all connections of this process share."""

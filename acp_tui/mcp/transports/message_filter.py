"""A filter between a transport and the SDK. It declines sampling and repairs answers.

acp-tui does not declare the sampling capability, because it has no language model for servers. If a server
requests sampling nevertheless, the filter's answer gives the reason; the SDK would only answer "Sampling not
supported".

The SDK rejects a whole answer because of one invalid part. `answer_repair` leaves the part out.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from acp_tui.mcp.transports.answer_repair import REPAIRED_METHODS, repair_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp_types import RequestId

SAMPLING_DECLINED = (
    "acp-tui declines sampling: it does not run a language model for servers. "
    "Configure the server with a model of its own, or use a tool that does not need one."
)
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@asynccontextmanager
async def filter_messages(
    transport: AbstractAsyncContextManager[TransportStreams],
    on_end: Callable[[], None],
    on_repair: Callable[[str], None],
) -> AsyncGenerator[TransportStreams]:
    """Open a transport on which sampling is declined and answers are repaired.

    `on_end` is called after the server's last message, `on_repair` with a sentence about each part that was
    left out of an answer.
    """
    async with transport as (received, to_send):
        requests = _SentRequests(to_send)
        yield _FilteredMessages(received, requests, on_end, on_repair), requests


class _SentRequests:
    """The stream of messages to the server. Remembers the requests whose answers may have to be repaired."""

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream
        self._methods: dict[RequestId, tuple[str, str | None]] = {}
        self._version: str | None = None  # as agreed in `initialize`

    def take(self, answer: JSONRPCResponse) -> tuple[str, str | None] | None:
        """Return the method of the request that a message answers, and its version of the protocol.

        None if the answer needs no repair.
        """
        found = self._methods.pop(answer.id, None)
        if found is None:
            return None
        method, version = found
        if method == "initialize":
            agreed = answer.result.get("protocolVersion")
            self._version = agreed if isinstance(agreed, str) else None
        return method, version or self._version

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest) and message.method in REPAIRED_METHODS:
            meta = (message.params or {}).get("_meta")
            version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
            self._methods[message.id] = (message.method, version)
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, traceback)


class _FilteredMessages:
    """The stream of the server's messages, without sampling requests and with repaired answers."""

    def __init__(
        self,
        received: ReadStream[SessionMessage | Exception],
        requests: _SentRequests,
        on_end: Callable[[], None],
        on_repair: Callable[[str], None],
    ) -> None:
        self._received = received
        self._requests = requests
        self._on_end = on_end
        self._on_repair = on_repair

    @property
    def last_context(self) -> object:
        """The context of the last message, for the SDK; None if the transport's stream has no context."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._received.receive()
            if isinstance(item, Exception) or not await self._decline(item):
                return self._repair(item)

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._received.__anext__()
            except StopAsyncIteration:
                self._on_end()
                raise
            if isinstance(item, Exception) or not await self._decline(item):
                return self._repair(item)

    async def _decline(self, item: SessionMessage) -> bool:
        message = item.message
        if not isinstance(message, JSONRPCRequest) or message.method != "sampling/createMessage":
            return False
        error = ErrorData(code=INVALID_REQUEST, message=SAMPLING_DECLINED)
        await self._requests.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
        return True

    def _repair(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
            return item
        request = self._requests.take(item.message)
        if request is None:
            return item
        result: dict[str, Any] = repair_answer(*request, item.message.result, self._on_repair)
        item.message = item.message.model_copy(update={"result": result})
        return item

    def __aiter__(self) -> Self:
        return self

    async def aclose(self) -> None:
        await self._received.aclose()

    async def __aenter__(self) -> Self:
        await self._received.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._received.__aexit__(kind, error, traceback)

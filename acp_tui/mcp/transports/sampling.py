"""A filter that declines sampling: acp-tui has no language model for servers.

acp-tui does not declare the sampling capability. If a server requests sampling nevertheless, the filter's
answer gives the reason; the SDK would only answer "Sampling not supported".
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

    from mcp.client._transport import ReadStream, TransportStreams, WriteStream

SAMPLING_DECLINED = (
    "acp-tui declines sampling: it does not run a language model for servers. "
    "Configure the server with a model of its own, or use a tool that does not need one."
)


@asynccontextmanager
async def decline_sampling(
    transport: AbstractAsyncContextManager[TransportStreams], on_end: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    """Open a transport on which the server's sampling requests are declined.

    `on_end` is called after the server's last message.
    """
    async with transport as (received, to_send):
        yield _WithoutSampling(received, to_send, on_end), to_send


class _WithoutSampling:
    """The stream of the server's messages, without the sampling requests."""

    def __init__(
        self,
        received: ReadStream[SessionMessage | Exception],
        to_send: WriteStream[SessionMessage],
        on_end: Callable[[], None],
    ) -> None:
        self._received = received
        self._to_send = to_send
        self._on_end = on_end

    @property
    def last_context(self) -> object:
        """The context of the last message, for the SDK; None if the transport's stream has no context."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._received.receive()
            if isinstance(item, Exception) or not await self._decline(item):
                return item

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._received.__anext__()
            except StopAsyncIteration:
                self._on_end()
                raise
            if isinstance(item, Exception) or not await self._decline(item):
                return item

    async def _decline(self, item: SessionMessage) -> bool:
        message = item.message
        if not isinstance(message, JSONRPCRequest) or message.method != "sampling/createMessage":
            return False
        error = ErrorData(code=INVALID_REQUEST, message=SAMPLING_DECLINED)
        await self._to_send.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
        return True

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

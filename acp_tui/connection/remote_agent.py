"""An agent on another machine, reached over WebSocket: one JSON-RPC message in each text frame.

The SDK's own WebSocket transport is not used: it accepts messages of at most 1 MiB, follows redirects to
other hosts, takes a proxy from the environment, and drops text that is not JSON without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from acp_tui.connection.errors import AgentExit, CannotStart
from acp_tui.connection.remote_access import (
    MAX_MESSAGE_BYTES,
    MAX_REASON_CHARACTERS,
    OPEN_SECONDS,
    REFUSALS,
    Outbox,
    masked,
    network_fault,
    same_origin,
    shown,
    status_fault,
    tls_context,
)
from acp_tui.errors import UserError
from acp_tui.processes.piped_process import EXIT_GRACE_SECONDS, LineRing
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from websockets.asyncio.client import ClientConnection
    from websockets.exceptions import ConnectionClosed

    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.config.remote_address import RemoteAddress

PING_SECONDS = 20.0
"""How often a ping is sent."""
PONG_SECONDS = 60.0
"""How long the answer to a ping may take. A message of 64 MB can be in front of it on a slow line."""
CLOSE_SECONDS = 2.0
# Its own logger, which never logs at the level DEBUG: there, `websockets` logs the headers with the token.
log = logging.getLogger("acp_tui.connection.remote_agent.websocket")
log.setLevel(logging.INFO)


class NoWebSocket(CannotStart):
    """A server answers at the address of a remote agent, but it does not speak WebSocket there."""


class RemoteAgent:
    """A connection to one remote agent, created by `connect`. It has the methods of `AgentProcess`."""

    pid = None

    def __init__(self, socket: ClientConnection, headers: Mapping[str, str]) -> None:
        self._socket = socket
        self._headers = headers
        self.stderr = LineRing()
        """Empty: a remote agent's stderr stays on its machine."""
        self._outbox = Outbox()
        self._ended = asyncio.Event()
        self._exit: AgentExit | None = None
        self._is_closing = False
        self._close_reason: str | None = None
        self._sender = asyncio.create_task(self._send_all())
        self._watcher = asyncio.create_task(self._watch())

    @classmethod
    async def connect(cls, launch: Launch, headers: Mapping[str, str]) -> Self:
        """Connect to `launch.address`. Raises `CannotStart`, also `NoWebSocket`."""
        address = launch.address
        assert address is not None
        try:
            socket = await _open(address, headers)
        except Exception as error:  # `websockets` passes on what the network, TLS and HTTP raise
            why = masked(headers, _connect_fault(error, address, headers))
            kind = NoWebSocket if _is_no_websocket(error) else CannotStart
            fault = kind(f"{launch.title} cannot be reached: {why}.")
            fault.may_pass = _may_pass(error)
            raise fault from None
        connection_id = socket.response.headers.get("Acp-Connection-Id") if socket.response else None
        log.info(
            "Connected to %s, connection %s",
            escape_line(address.host),
            escape_line(masked(headers, (connection_id or "without an id")[:MAX_REASON_CHARACTERS])),
        )
        return cls(socket, headers)

    # ----------------------------------------------------------------- messages

    async def read(self) -> bytes:
        """Return the next message with a line end; `b""` if the connection has ended."""
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                message = await self._socket.recv()
                if isinstance(message, str):  # binary frames have no meaning in this transport
                    break
        except ConnectionClosed:
            await self._ended.wait()
            return b""
        # A line break can only be between the parts of a message: inside a string, JSON does not allow it.
        return message.replace("\n", " ").encode() + b"\n"

    def write(self, data: bytes) -> None:
        """Send a message, without waiting."""
        self._outbox.put(data.rstrip(b"\n"))

    async def drain(self) -> None:
        """Wait until most of what was written is sent."""
        await self._outbox.drain()

    @property
    def writable(self) -> bool:
        """False once the connection has ended or is being closed."""
        return not self._is_closing and self._exit is None

    async def _send_all(self) -> None:
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while (message := await self._outbox.first()) is not None:
                await self._socket.send(message, text=True)
                self._outbox.pop()

    # ----------------------------------------------------------------- the end

    @property
    def exit(self) -> AgentExit | None:
        """How the connection ended; None while it is open."""
        return self._exit

    def stderr_tail(self, count: int = 20) -> list[str]:
        """Return the last lines of stderr: none."""
        return self.stderr.tail(count)

    async def wait(self) -> AgentExit:
        """Wait until the connection has ended."""
        await self._ended.wait()
        assert self._exit is not None
        return self._exit

    async def close(
        self, *, reason: str | None = None, grace_seconds: float = EXIT_GRACE_SECONDS
    ) -> AgentExit:
        """Send what is still to be sent, for at most `grace_seconds`, and close the connection.

        `AgentExit.reason` stores `reason`: the fault that made acp-tui close it, if any.
        """
        if self._exit is None and not self._is_closing:
            self._is_closing, self._close_reason = True, reason
            self._outbox.close()
            await asyncio.wait([self._sender], timeout=grace_seconds)
            await self._socket.close()
        return await self.wait()

    async def _watch(self) -> None:
        """Wait for the end of the connection, and note how it ended."""
        try:
            await self._socket.wait_closed()
        finally:
            self._sender.cancel()
            if self._is_closing:
                expected, reason = self._close_reason is None, self._close_reason or "was disconnected"
            else:
                expected, reason = False, _end_clause(self._socket)
            self._exit = AgentExit(expected=expected, reason=masked(self._headers, reason))
            self._outbox.release()
            self._ended.set()


# --------------------------------------------------------------------------- connecting


async def _open(address: RemoteAddress, headers: Mapping[str, str]) -> ClientConnection:
    connect = await asyncio.to_thread(_import_connect)
    context = await asyncio.to_thread(tls_context, address.ca_file) if address.is_encrypted else None
    socket: ClientConnection = await connect(
        address.websocket_url,
        additional_headers=headers,
        ssl=context,
        proxy=None,
        compression=None,  # it costs more time than it saves with frames of a few hundred bytes
        user_agent_header="acp-tui",
        open_timeout=OPEN_SECONDS,
        ping_interval=PING_SECONDS,
        ping_timeout=PONG_SECONDS,
        close_timeout=CLOSE_SECONDS,
        max_size=MAX_MESSAGE_BYTES,
        logger=log,
    )
    return socket


def _import_connect() -> Any:
    """Return the class that connects, which refuses redirects to another host."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    class Connect(connect):
        def process_redirect(self, exc: Exception) -> Exception | str:
            if isinstance(exc, InvalidStatus) and 300 <= exc.response.status_code < 400:
                target = urljoin(self.uri, exc.response.headers.get("Location", ""))
                if not same_origin(target, self.uri):
                    return UserError(f"it redirects to another host, which is not followed: {shown(target)}")
            return super().process_redirect(exc)

    return Connect


# --------------------------------------------------------------------------- what went wrong


def _connect_fault(error: Exception, address: RemoteAddress, headers: Mapping[str, str]) -> str:
    """Return a clause with the reason why there is no connection."""
    from websockets.exceptions import InvalidStatus

    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, InvalidStatus):
        return status_fault(address.url, error.response.status_code, headers)
    if (fault := network_fault(error, address)) is not None:
        return fault
    cause = error.__cause__ or error
    said = escape_line(str(cause) or type(cause).__name__)[:MAX_REASON_CHARACTERS]
    return f"{shown(address.url)} did not answer as a WebSocket server ({said})"


def _is_no_websocket(error: Exception) -> bool:
    """Return True if a server answers, and what it answers does not mean that WebSocket is refused to us."""
    from websockets.exceptions import InvalidStatus

    if isinstance(error, InvalidStatus):
        return error.response.status_code not in (401, 503)
    return isinstance(error, ConnectionResetError) or not isinstance(error, (OSError, UserError))


def _may_pass(error: Exception) -> bool:
    """Return True unless something here has to be changed first, such as the token or the settings."""
    from websockets.exceptions import InvalidStatus

    if isinstance(error, InvalidStatus):
        return error.response.status_code not in REFUSALS
    return not isinstance(error, UserError)


def _end_clause(socket: ClientConnection) -> str:
    """Return a clause about the end of a connection that acp-tui did not close."""
    fault: ConnectionClosed = socket.protocol.close_exc
    received, sent = fault.rcvd, fault.sent
    limit = f"{MAX_MESSAGE_BYTES // (1024 * 1024)} MB"
    if received is not None and fault.rcvd_then_sent is not False:
        said = escape_line(received.reason)[:MAX_REASON_CHARACTERS]
        if received.code == 1009:
            return "closed the connection because a message was too large for it"
        # 1005 stands for a close frame without a code, as the TypeScript SDK sends it.
        code = "" if received.code in (1000, 1001, 1005) else f" (code {received.code})"
        return f"closed the connection{code}{f': {said}' if said else ''}"
    if sent is not None and sent.code == 1009:
        return f"was disconnected: it sent a message of more than {limit}"
    if sent is not None and sent.code == 1011:
        return f"was disconnected: it did not answer a ping within {PONG_SECONDS:g} s"
    if sent is not None and sent.code in (1002, 1007):
        said = escape_line(sent.reason)[:MAX_REASON_CHARACTERS]
        return f"was disconnected: it broke the WebSocket protocol ({said or 'unknown reason'})"
    return "was disconnected: the connection broke"

"""An agent on another machine, reached over WebSocket: one JSON-RPC message in each text frame.

The SDK's own WebSocket transport is not used: it accepts messages of at most 1 MiB, follows redirects to
other hosts, takes a proxy from the environment, and drops text that is not JSON without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin, urlsplit

from acp_tui.config.remote_address import RemoteAddress, checked_token
from acp_tui.connection.errors import AgentExit, CannotStart
from acp_tui.errors import UserError
from acp_tui.processes.piped_process import EXIT_GRACE_SECONDS, LineRing
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.exceptions import ConnectionClosed

    from acp_tui.config.agent_catalogue import Launch

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""The longest message that is accepted; a longer one ends the connection."""
PING_SECONDS = 20.0
PONG_SECONDS = 60.0
"""How long the answer to a ping may take. A message of 64 MB can be in front of it on a slow line."""
OPEN_SECONDS = 30.0
TOKEN_SECONDS = 60.0
"""How long `token_command` may run. It may ask the user on a screen of its own."""
CLOSE_SECONDS = 2.0
MAX_UNSENT_BYTES = 1 << 20
"""With more than this still to be sent, `drain` waits."""
MAX_REASON_CHARACTERS = 200
MASK = "***"
HINTS = {
    401: "check the token (--token-file FILE, ACP_TUI_TOKEN, or `token_command` in the agent's settings)",
    403: "the token is not allowed to do this, or the server does not accept this client",
    404: "check the path of the address",
    426: "the server does not speak WebSocket at this address",
    503: "the server has no room for another connection",
}
REFUSALS = (401, 403)
"""The HTTP statuses after which acp-tui does not try again by itself."""
# Its own logger, which never logs at the level DEBUG: there, `websockets` logs the headers with the token.
log = logging.getLogger("acp_tui.connection.remote_agent.websocket")
log.setLevel(logging.INFO)


class RemoteAgent:
    """A connection to one remote agent, created by `connect`. It has the methods of `AgentProcess`."""

    pid = None

    def __init__(self, socket: ClientConnection, secrets: tuple[str, ...]) -> None:
        self._socket = socket
        self._secrets = secrets
        self.stderr = LineRing()
        """Empty: a remote agent's stderr stays on its machine."""
        self._outgoing: deque[bytes] = deque()
        self._unsent = 0  # bytes
        self._has_outgoing = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._ended = asyncio.Event()
        self._exit: AgentExit | None = None
        self._is_closing = False
        self._close_reason: str | None = None
        self._sender = asyncio.create_task(self._send_all())
        self._watcher = asyncio.create_task(self._watch())

    @classmethod
    async def connect(cls, launch: Launch) -> Self:
        """Connect to `launch.address`. Raises `CannotStart`."""
        address = launch.address
        assert address is not None
        headers: dict[str, str] = {}
        secrets: tuple[str, ...] = ()
        try:
            headers = address.read_headers()
            secrets = tuple(filter(None, headers.values()))
            token = await _find_token(address)
            if token is not None:
                secrets = (token, *secrets)
                headers = {name: text for name, text in headers.items() if name.lower() != "authorization"}
                headers["Authorization"] = f"Bearer {token}"
            socket = await _open(address, headers)
        except Exception as error:  # `websockets` passes on what the network, TLS and HTTP raise
            why = str(error) if isinstance(error, UserError) else _connect_fault(error, address, headers)
            fault = CannotStart(f"{launch.title} cannot be reached: {_without(secrets, why)}.")
            fault.may_pass = _may_pass(error)
            raise fault from None
        connection_id = socket.response.headers.get("Acp-Connection-Id") if socket.response else None
        log.info(
            "Connected to %s, connection %s",
            escape_line(address.host),
            escape_line(_without(secrets, (connection_id or "without an id")[:MAX_REASON_CHARACTERS])),
        )
        return cls(socket, secrets)

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
        self._outgoing.append(data.rstrip(b"\n"))
        self._unsent += len(data)
        if self._unsent > MAX_UNSENT_BYTES:
            self._has_room.clear()
        self._has_outgoing.set()

    async def drain(self) -> None:
        """Wait until most of what was written is sent."""
        await self._has_room.wait()

    @property
    def writable(self) -> bool:
        """False once the connection has ended or is being closed."""
        return not self._is_closing and self._exit is None

    async def _send_all(self) -> None:
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while True:
                while self._outgoing:
                    message = self._outgoing[0]
                    await self._socket.send(message, text=True)
                    self._outgoing.popleft()
                    self._unsent -= len(message) + 1
                    if self._unsent <= MAX_UNSENT_BYTES:
                        self._has_room.set()
                self._has_outgoing.clear()
                if self._is_closing:
                    return
                await self._has_outgoing.wait()

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
            self._has_outgoing.set()
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
            self._exit = AgentExit(expected=expected, reason=_without(self._secrets, reason))
            self._has_room.set()
            self._ended.set()


# --------------------------------------------------------------------------- connecting


async def _find_token(address: RemoteAddress) -> str | None:
    if address.token_command and address.token_file is None:
        return await _run_token_command(address.token_command)
    return await asyncio.to_thread(address.read_token)


async def _run_token_command(command: tuple[str, ...]) -> str:
    """Return what the command prints. Its stderr is not shown: it can contain the token."""
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=null, stdout=pipe, stderr=null, start_new_session=True
        )
    except OSError as error:
        raise UserError(f"token_command cannot be started: {command[0]}: {error.strerror}") from None
    try:
        output, _ = await asyncio.wait_for(process.communicate(), TOKEN_SECONDS)
    except TimeoutError:
        raise UserError(f"token_command did not end within {TOKEN_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise UserError(f"token_command failed with exit code {process.returncode}")
    return checked_token(output, "the output of token_command")


async def _open(address: RemoteAddress, headers: dict[str, str]) -> ClientConnection:
    connect = await asyncio.to_thread(_import_connect)
    context = None
    if urlsplit(address.url).scheme.lower() == "wss":
        context = await asyncio.to_thread(_tls_context, address.ca_file)
    socket: ClientConnection = await connect(
        address.url,
        additional_headers=headers,
        ssl=context,
        proxy=None,
        compression=None,  # it costs more time than it saves with frames of a few hundred bytes
        user_agent_header="acp-tui",
        open_timeout=OPEN_SECONDS,
        ping_interval=PING_SECONDS,
        ping_timeout=PONG_SECONDS,
        close_timeout=CLOSE_SECONDS,
        max_size=MAX_FRAME_BYTES,
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
                if _origin(target) != _origin(self.uri):
                    return UserError(f"it redirects to another host, which is not followed: {_shown(target)}")
            return super().process_redirect(exc)

    return Connect


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port or {"ws": 80, "wss": 443}.get(parts.scheme)


def _shown(url: str) -> str:
    """Return a URL without what can be secret, safe to display."""
    return escape_line(url.partition("?")[0][:MAX_REASON_CHARACTERS])


def _tls_context(ca_file: Path | None) -> ssl.SSLContext:
    if ca_file is None:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except (OSError, ssl.SSLError) as error:
        why = error.strerror if not isinstance(error, ssl.SSLError) else "it contains no certificate"
        raise UserError(f"the certificates in {ca_file} cannot be read: {why}") from None


# --------------------------------------------------------------------------- what went wrong


def _connect_fault(error: Exception, address: RemoteAddress, headers: dict[str, str]) -> str:
    """Return a clause with the reason why there is no connection."""
    import socket

    from websockets.exceptions import InvalidStatus

    if isinstance(error, InvalidStatus):
        code = error.response.status_code
        hint = HINTS.get(code)
        if code == 401 and not any(name.lower() == "authorization" for name in headers):
            hint = "it requires a token: " + HINTS[401].partition("(")[2].rstrip(")")
        return f"{_shown(address.url)} answered with HTTP status {code}" + (f"; {hint}" if hint else "")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = escape_line(error.verify_message).rstrip(".")
        return f"the certificate of {address.host} is not trusted ({why}); --ca-file FILE names another CA"
    if isinstance(error, ssl.SSLError):
        return f"{address.host} does not answer with TLS ({escape_line(error.reason or 'unknown reason')})"
    if isinstance(error, TimeoutError):
        return f"{_shown(address.url)} did not answer within {OPEN_SECONDS:g} s"
    if isinstance(error, socket.gaierror):
        return f"the host {address.host} was not found"
    if isinstance(error, ConnectionRefusedError):
        return f"{address.host} refused the connection: no server is running there"
    if isinstance(error, OSError) and error.strerror:
        return f"{address.host}: {escape_line(error.strerror)}"
    cause = error.__cause__ or error
    said = escape_line(str(cause) or type(cause).__name__)[:MAX_REASON_CHARACTERS]
    return f"{_shown(address.url)} did not answer as a WebSocket server ({said})"


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
    limit = f"{MAX_FRAME_BYTES // (1024 * 1024)} MB"
    if received is not None and fault.rcvd_then_sent is not False:
        said = escape_line(received.reason)[:MAX_REASON_CHARACTERS]
        if received.code == 1009:
            return "closed the connection because a message was too large for it"
        code = "" if received.code in (1000, 1001) else f" (code {received.code})"
        return f"closed the connection{code}{f': {said}' if said else ''}"
    if sent is not None and sent.code == 1009:
        return f"was disconnected: it sent a message of more than {limit}"
    if sent is not None and sent.code == 1011:
        return f"was disconnected: it did not answer a ping within {PONG_SECONDS:g} s"
    if sent is not None and sent.code in (1002, 1007):
        said = escape_line(sent.reason)[:MAX_REASON_CHARACTERS]
        return f"was disconnected: it broke the WebSocket protocol ({said or 'unknown reason'})"
    return "was disconnected: the connection broke"


def _without(secrets: tuple[str, ...], text: str) -> str:
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, MASK)
    return text

"""What every connection to a remote agent needs: the token, certificates, and faults in words."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import deque
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from acp_tui.config.remote_address import checked_token
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from acp_tui.config.remote_address import RemoteAddress

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The longest message that is accepted; a longer one ends the connection."""
OPEN_SECONDS = 30.0
TOKEN_SECONDS = 60.0
"""How long `token_command` may run. It may ask the user on a screen of its own."""
MAX_UNSENT_BYTES = 1 << 20
"""With more than this still to be sent, `Outbox.drain` waits."""
MAX_REASON_CHARACTERS = 200
MIN_SECRET_CHARACTERS = 4
MASK = "***"
_DEFAULT_PORTS = {"ws": 80, "http": 80, "wss": 443, "https": 443}
HINTS = {
    401: "check the token (--token-file FILE, ACP_TUI_TOKEN, or `token_command` in the agent's settings)",
    403: "the token is not allowed to do this, or the server does not accept this client",
    404: "check the path of the address",
    426: "the server does not speak WebSocket at this address",
    503: "the server has no room for another connection",
}
REFUSALS = (401, 403)
"""The HTTP statuses after which acp-tui does not try again by itself."""


class Outbox:
    """The messages that are still to be sent, in order."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._size = 0  # bytes
        self._is_closed = False
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    def put(self, message: bytes) -> None:
        """Add a message."""
        self._messages.append(message)
        self._size += len(message)
        if self._size > MAX_UNSENT_BYTES:
            self._has_room.clear()
        self._changed.set()

    async def first(self) -> bytes | None:
        """Wait for a message, which stays until `pop`. Return None if there is none after `close`."""
        while not self._messages:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._messages[0]

    def pop(self) -> None:
        """Remove the first message: it is sent."""
        self._size -= len(self._messages.popleft())
        if self._size <= MAX_UNSENT_BYTES:
            self._has_room.set()

    async def drain(self) -> None:
        """Wait until most messages are sent, or until `release`."""
        await self._has_room.wait()

    def close(self) -> None:
        """Note that no further messages follow."""
        self._is_closed = True
        self._changed.set()

    def release(self) -> None:
        """End the waiting of `drain`: nothing can be sent any more."""
        self._has_room.set()


async def request_headers(address: RemoteAddress) -> dict[str, str]:
    """Return the headers of requests to `address`, with the token. Raises `UserError`."""
    headers = address.read_headers()
    token = await _find_token(address)
    if token is not None:
        headers = {name: text for name, text in headers.items() if name.lower() != "authorization"}
        headers["Authorization"] = f"Bearer {token}"
    return headers


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


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return the context that checks certificates: against `ca_file`, or as this machine does.

    Raises `UserError`.
    """
    if ca_file is None:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except (OSError, ssl.SSLError) as error:
        why = error.strerror if not isinstance(error, ssl.SSLError) else "it contains no certificate"
        raise UserError(f"the certificates in {ca_file} cannot be read: {why}") from None


def same_origin(url: str, other: str) -> bool:
    """Return True if two addresses have the same scheme, host and port, and no user name."""
    return _origin(url) is not None and _origin(url) == _origin(other)


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname, port or _DEFAULT_PORTS.get(parts.scheme)


# --------------------------------------------------------------------------- what went wrong


def shown(url: str) -> str:
    """Return a URL without what can be secret, safe to display."""
    return escape_line(url.partition("?")[0][:MAX_REASON_CHARACTERS])


def masked(headers: Mapping[str, str], text: str) -> str:
    """Return a text in which the values of headers and the token are replaced."""
    for value in headers.values():
        for secret in (value, value.removeprefix("Bearer ")):
            if len(secret) >= MIN_SECRET_CHARACTERS:
                text = text.replace(secret, MASK)
    return text


def status_fault(url: str, status: int, headers: Mapping[str, str]) -> str:
    """Return a clause for an HTTP status with which a request with these headers was refused."""
    hint = HINTS.get(status)
    if status == 401 and not any(name.lower() == "authorization" for name in headers):
        hint = "it requires a token: " + HINTS[401].partition("(")[2].rstrip(")")
    return f"{shown(url)} answered with HTTP status {status}" + (f"; {hint}" if hint else "")


def network_fault(error: Exception, address: RemoteAddress) -> str | None:
    """Return a clause for a fault of the network or of TLS; None for another error."""
    import socket

    host = escape_line(address.host)
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = escape_line(cause.verify_message).rstrip(".")
            return f"the certificate of {host} is not trusted ({why}); --ca-file FILE names another CA"
        if isinstance(cause, ssl.SSLError):
            return f"{host} does not answer with TLS ({escape_line(cause.reason or 'unknown reason')})"
        if isinstance(cause, TimeoutError):
            return f"{shown(address.url)} did not answer within {OPEN_SECONDS:g} s"
        if isinstance(cause, socket.gaierror):
            return f"the host {host} was not found"
        if isinstance(cause, ConnectionRefusedError):
            return f"{host} refused the connection: no server is running there"
        if isinstance(cause, OSError) and cause.strerror:
            return f"{host}: {escape_line(cause.strerror)}"
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what caused it: libraries wrap the errors of sockets."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or error.__context__

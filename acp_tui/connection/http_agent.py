"""An agent on another machine, reached over streamable HTTP: POST to it, event streams from it.

The SDK's own HTTP client is not used: it needs another HTTP library than the MCP SDK, drops text that is not
JSON, limits neither a message nor what waits to be read, and does not report the loss of a session's stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from functools import partial
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from acp_tui.connection.errors import AgentExit, CannotStart
from acp_tui.connection.remote_access import (
    HINTS,
    MAX_MESSAGE_BYTES,
    MAX_REASON_CHARACTERS,
    OPEN_SECONDS,
    REFUSALS,
    Outbox,
    masked,
    network_fault,
    request_headers,
    same_origin,
    shown,
    status_fault,
    tls_context,
)
from acp_tui.connection.remote_agent import NoWebSocket, RemoteAgent
from acp_tui.errors import UserError
from acp_tui.processes.piped_process import EXIT_GRACE_SECONDS, LineRing
from acp_tui.protocol.json_rpc import NOT_JSON, LineSplitter, decode
from acp_tui.session.record import INTERNAL_ERROR
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    import httpx2

    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.config.remote_address import RemoteAddress

    Message = dict[str, Any]

CONNECTION_ID = "Acp-Connection-Id"
SESSION_ID = "Acp-Session-Id"
JSON_TYPE = "application/json"
EVENT_STREAM = "text/event-stream"
PRIOR_KNOWLEDGE_SECONDS = 5.0
"""How long a server may take to answer HTTP/2 without TLS, before HTTP/1.1 is tried."""
IDLE_SECONDS = 2.0
"""How long an unused HTTP/1.1 connection is kept; servers close theirs after 5 s."""
KEEP_ALIVE_SECONDS = 20
"""How often TCP checks that the other side is there; after three checks the connection counts as broken."""
QUIET_SECONDS = 0.2
"""How long a session's stream must be silent before the answer to `session/load` is passed on."""
MAX_QUIET_SECONDS = 10.0
CLOSE_SECONDS = 2.0
MAX_UNREAD_BYTES = 1 << 20
"""With more than this still to be read, no stream is read."""
MAX_STREAMS = 32
"""The most streams of sessions. Each has a network connection of its own."""
MAX_REDIRECTS = 5
MAX_ERROR_BYTES = 8192
GONE = (401, 403, 404, 410)
"""The statuses which mean that the server does not accept, or does not know, the connection."""
log = logging.getLogger(__name__)


async def connect(launch: Launch) -> RemoteAgent | HttpAgent:
    """Connect to `launch.address`, with the transports that fit it. Raises `CannotStart`."""
    address = launch.address
    assert address is not None
    try:
        headers = await request_headers(address)
    except UserError as error:
        raise _unreachable(launch, str(error)) from None
    if "websocket" in address.transports:
        try:
            return await RemoteAgent.connect(launch, headers)
        except NoWebSocket:
            if "http" not in address.transports:
                raise
            log.info("No WebSocket at %s", escape_line(address.host))
    return await HttpAgent.connect(launch, headers)


class HttpAgent:
    """A connection to one remote agent, created by `connect`. It has the methods of `AgentProcess`."""

    pid = None

    def __init__(self, server: _Server) -> None:
        self._server = server
        self.stderr = LineRing()
        """Empty: a remote agent's stderr stays on its machine."""
        self._connection_id: str | None = None
        self._outbox = Outbox()
        self._inbox: list[bytes] = []
        self._unread = 0  # bytes
        self._has_incoming = asyncio.Event()
        self._is_read = asyncio.Event()
        self._streams: dict[str | None, _Stream] = {}  # by session; None: that of the connection
        self._unanswered: dict[Any, str | None] = {}  # our requests: id and session
        self._loads: dict[Any, str] = {}  # the same, only requests to load a session
        self._requests: dict[Any, str | None] = {}  # the agent's requests: id and the stream they came on
        self._notices: list[tuple[str, bool]] = []
        self._report: Callable[[str, bool], None] = lambda text, is_fault: self._notices.append(
            (text, is_fault)
        )
        self._ended = asyncio.Event()
        self._exit: AgentExit | None = None
        self._is_closing = False
        self._cleanup: asyncio.Task[None] | None = None
        self._sender = asyncio.create_task(self._send_all())
        if server.version != "HTTP/2":
            self._report(f"The connection uses {server.version}: the server does not offer HTTP/2.", False)

    @classmethod
    async def connect(cls, launch: Launch, headers: Mapping[str, str]) -> Self:
        """Find out how the server can be reached. Raises `CannotStart`.

        The connection itself begins with `initialize`.
        """
        assert launch.address is not None
        try:
            server = await _Server.find(launch.address, headers)
        except Exception as error:  # also what the network and TLS raise
            fault = _unreachable(launch, masked(headers, _connect_fault(error, launch.address)))
            fault.may_pass = not isinstance(error, UserError)
            raise fault from None
        return cls(server)

    def report_to(self, report: Callable[[str, bool], None]) -> None:
        """Call `report` with each sentence for the user, and whether it is about a fault."""
        self._report = report
        for notice in self._notices:
            report(*notice)

    # ----------------------------------------------------------------- messages

    async def read(self) -> bytes:
        """Return the next messages, each with a line end; `b""` if the connection has ended."""
        while not self._inbox:
            if self._exit is not None:
                return b""
            self._has_incoming.clear()
            await self._has_incoming.wait()
        messages = b"".join(self._inbox)
        self._inbox.clear()
        self._unread = 0
        self._is_read.set()
        return messages

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

    def _deliver(self, message: bytes) -> None:
        # A line break can only be between the parts of a message: inside a string, JSON does not allow it.
        line = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        self._inbox.append(line)
        self._unread += len(line)
        self._has_incoming.set()

    # ----------------------------------------------------------------- sending

    async def _send_all(self) -> None:
        with self._ends_with_fault():
            while (data := await self._outbox.first()) is not None:
                message = json.loads(data)
                if isinstance(message, list):  # the transport has no batches
                    for part in message:
                        await self._send(part, json.dumps(part).encode())
                else:
                    await self._send(message, data)
                self._outbox.pop()

    async def _send(self, message: Message, data: bytes) -> None:
        method, message_id = message.get("method"), message.get("id")
        is_request = method is not None and message_id is not None
        if method == "initialize" and is_request:
            await self._initialize(message_id, data)
        elif self._connection_id is not None:
            await self._post(message, data, message_id if is_request else None)
        elif is_request:
            self._fail(message_id, "nothing can be sent before `initialize` is answered")

    async def _post(self, message: Message, data: bytes, request_id: Any) -> None:
        """Send a message after `initialize`. `request_id` is None unless it is a request."""
        method = message.get("method")
        if method is None:
            session = self._requests.pop(message["id"], None)
        else:
            session = _session_id(message.get("params"))
        if session is not None:
            self._open_stream(session)
            if method in ("session/close", "session/delete") and session in self._streams:
                self._streams[session].may_end = True
        if request_id is not None:
            self._unanswered[request_id] = session
            if method == "session/load" and session is not None:
                self._loads[request_id] = session
        response = await self._server.request("POST", self._ids(session), body=data, seconds=OPEN_SECONDS)
        body = await _body_of(response)
        if response.is_success:
            if body and _media_type(response) == JSON_TYPE:
                self._deliver(body)
        elif request_id is not None and not _is_gone(response, body):
            self._refuse(request_id, response, body)
        else:
            raise _LostError(_refusal(response, body, method or "an answer"))

    async def _initialize(self, request_id: Any, data: bytes) -> None:
        """Send `initialize`, which begins a connection. It ends one whose `initialize` was refused."""
        await self._disconnect()
        self._unanswered[request_id] = None
        response = await self._server.request("POST", {}, body=data)
        body = await _body_of(response)
        if not response.is_success:
            if not _is_gone(response, body):
                self._refuse(request_id, response, body)
                return
            fault = status_fault(self._server.url, response.status_code, self._server.headers)
            raise _LostError(f"cannot be reached: {fault}")
        if (media_type := _media_type(response)) != JSON_TYPE:
            where = shown(self._server.url)
            raise _LostError(
                f"cannot be reached: {where} answered with {media_type} in place of JSON; {HINTS[404]}"
            )
        self._connection_id = response.headers.get(CONNECTION_ID)
        if not self._connection_id:
            where = shown(self._server.url)
            raise _LostError(f"cannot be reached: {where} answered without the header {CONNECTION_ID}")
        log.info(
            "Connected to %s over %s, connection %s",
            escape_line(shown(self._server.url)),
            self._server.version,
            escape_line(masked(self._server.headers, self._connection_id[:MAX_REASON_CHARACTERS])),
        )
        answer = decode(body.decode("utf-8", "replace"))
        if isinstance(answer, dict) and answer.get("error") is not None:
            await self._disconnect()
        else:
            self._open_stream(None)
        self._unanswered.pop(request_id, None)
        self._deliver(body)

    def _refuse(self, request_id: Any, response: httpx2.Response, body: bytes) -> None:
        """Pass on the error with which the server answered a request, instead of the agent."""
        answer = decode(body.decode("utf-8", "replace"))
        if isinstance(answer, dict) and answer.get("id") == request_id and answer.get("error") is not None:
            self._unanswered.pop(request_id, None)
            self._deliver(body)
        else:
            said = _said(body)
            status = f"HTTP status {response.status_code}"
            self._fail(request_id, f"the server answered with {status}{f': {said}' if said else ''}")

    def _fail(self, request_id: Any, reason: str) -> None:
        """Answer a request of ours that did not reach the agent."""
        self._unanswered.pop(request_id, None)
        self._loads.pop(request_id, None)
        error = {"code": INTERNAL_ERROR, "message": masked(self._server.headers, reason)}
        self._deliver(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode())

    def _ids(self, session: str | None = None) -> dict[str, str]:
        found = {CONNECTION_ID: self._connection_id or ""}
        if session is not None:
            found[SESSION_ID] = session
        return found

    # ----------------------------------------------------------------- receiving

    def _open_stream(self, session: str | None, *, is_child: bool = False) -> None:
        """Open the stream of a session, unless it is open; None: that of the connection."""
        if session in self._streams or self._exit is not None:
            return
        if len(self._streams) == MAX_STREAMS:
            self._report(f"The agent has more than {MAX_STREAMS} sessions; not all are followed.", True)
        if len(self._streams) <= MAX_STREAMS:
            stream = self._streams[session] = _Stream(session, is_child)
            stream.task = asyncio.create_task(self._read_stream(stream))

    async def _read_stream(self, stream: _Stream) -> None:
        with self._ends_with_fault():
            async with self._server.stream(self._ids(stream.session)) as response:
                if not response.is_success:
                    self._refuse_stream(stream, response, await _body_of(response))
                    return
                if (media_type := _media_type(response)) != EVENT_STREAM:
                    raise _LostError(
                        f"was disconnected: it answered with {media_type} in place of an event stream"
                    )
                async for block in response.aiter_bytes():
                    for data in stream.feed(block):
                        await self._receive(stream, data)
            self._lose_stream(stream)

    async def _receive(self, stream: _Stream, data: bytes) -> None:
        """Take one message. Most have no id, and are not decoded here."""
        stream.received_at = asyncio.get_running_loop().time()
        if b'"id"' in data or b'"subagent_update"' in data:
            message = decode(data.decode("utf-8", "replace"))
            if message is not NOT_JSON and isinstance(message, dict):
                await self._note_received(stream, message)
        self._deliver(data)
        while self._unread > MAX_UNREAD_BYTES and self._exit is None:
            self._is_read.clear()
            await self._is_read.wait()

    async def _note_received(self, stream: _Stream, message: Message) -> None:
        message_id = message.get("id")
        if "method" not in message:
            with contextlib.suppress(TypeError):  # an id that is no id
                self._unanswered.pop(message_id, None)
                if (loaded := self._loads.pop(message_id, None)) is not None:
                    await self._wait_until_quiet(loaded, stream)
            if (session := _session_id(message.get("result"))) is not None:
                self._open_stream(session)
        elif message_id is not None:
            with contextlib.suppress(TypeError):
                self._requests[message_id] = stream.session
        elif isinstance(params := message.get("params"), dict):
            update = params.get("update")
            is_child = isinstance(update, dict) and update.get("sessionUpdate") == "subagent_update"
            if is_child and (session := _session_id(update)) is not None:
                self._open_stream(session, is_child=True)

    async def _wait_until_quiet(self, session: str, answered_on: _Stream) -> None:
        """Wait for the rest of a loaded session's messages.

        They come on another stream than the answer, which ends the loading.
        """
        loop = asyncio.get_running_loop()
        stream, until = self._streams.get(session), loop.time() + MAX_QUIET_SECONDS
        if stream is None or stream is answered_on:
            return
        began = loop.time()
        while (now := loop.time()) < until and not stream.is_over:
            rest = max(stream.received_at, began) + QUIET_SECONDS - now
            if rest <= 0:
                return
            await asyncio.sleep(rest)

    # ----------------------------------------------------------------- faults

    def _refuse_stream(self, stream: _Stream, response: httpx2.Response, body: bytes) -> None:
        stream.is_over = True
        session, status = stream.session, response.status_code
        if session is None or _is_gone(response, body):
            raise _LostError(_refusal(response, body, "the stream of the connection"))
        if status == 404:  # the server does not know the session
            del self._streams[session]
            for request_id in [one for one, other in self._unanswered.items() if other == session]:
                self._refuse(request_id, response, body)
        elif not stream.is_child:
            self._report(
                f"The server refused a stream for the session (HTTP status {status}). Messages about the "
                "session are expected on the stream of the connection.",
                True,
            )

    def _lose_stream(self, stream: _Stream) -> None:
        """Note that a stream has ended without a fault of the network."""
        stream.is_over = True
        if stream.is_child and not stream.may_end:
            self._report("The stream of a subagent's session ended; what follows is not shown.", True)
        elif stream.session is None:
            raise _LostError("closed the connection")
        elif not stream.may_end:
            raise _LostError("was disconnected: the stream of the session ended")

    @contextlib.contextmanager
    def _ends_with_fault(self) -> Any:
        """End the connection if the block raises."""
        import httpx2

        try:
            yield
        except _LostError as lost:
            self._end(str(lost))
        except UserError as error:
            self._end(f"was disconnected: {error}")
        except httpx2.TimeoutException:
            self._end(f"was disconnected: it did not answer within {OPEN_SECONDS:g} s")
        except httpx2.HTTPError:
            self._end("was disconnected: the connection broke")
        except Exception:
            log.exception("The connection ended with an unexpected error")
            self._end("was disconnected: an unexpected error, which is in the log of acp-tui")

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
            self._is_closing = True
            self._outbox.close()
            await asyncio.wait([self._sender], timeout=grace_seconds)
            self._end(reason or "was disconnected", expected=reason is None)
        ended = await self.wait()
        if self._cleanup is not None:
            await asyncio.wait([self._cleanup])
        return ended

    def _end(self, reason: str, *, expected: bool = False) -> None:
        if self._exit is None:
            self._exit = AgentExit(expected=expected, reason=masked(self._server.headers, reason))
            self._outbox.release()
            self._has_incoming.set()
            self._is_read.set()
            self._ended.set()
            self._cleanup = asyncio.create_task(self._clean_up())

    async def _clean_up(self) -> None:
        self._sender.cancel()
        await asyncio.wait([self._sender])
        await self._disconnect()
        await self._server.close()

    async def _disconnect(self) -> None:
        """End the connection on the server, and all streams."""
        tasks = [stream.task for stream in self._streams.values() if stream.task is not None]
        self._streams.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._connection_id is not None:
            with contextlib.suppress(Exception):  # the server may be gone
                async with asyncio.timeout(CLOSE_SECONDS):
                    response = await self._server.request("DELETE", self._ids())
                    await response.aclose()
            self._connection_id = None


class _LostError(Exception):
    """There is no connection any more, or none yet. The message is a clause that says why."""


class _Stream:
    """One event stream: splits it into the data of its events."""

    def __init__(self, session: str | None, is_child: bool) -> None:
        self.session = session
        self.is_child = is_child  # of a subagent
        self.may_end = False  # acp-tui has closed the session
        self.is_over = False
        self.received_at = 0.0
        self.task: asyncio.Task[None] | None = None
        self._lines = LineSplitter(MAX_MESSAGE_BYTES)
        self._data: list[bytes] = []
        self._size = 0  # bytes in `_data`
        self._after_return = False

    def feed(self, block: bytes) -> list[bytes]:
        """Return the data of the events that this block completes."""
        if b"\r" in block or self._after_return:  # lines may end with CR LF or CR
            if self._after_return and block.startswith(b"\n"):
                block = block[1:]
            self._after_return = block.endswith(b"\r")
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events, data = [], self._data
        for line in self._lines.feed(block):
            if line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
                self._size += len(line)
            elif not line and data:
                events.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
                self._size = 0
        if self._size + self._lines.pending > MAX_MESSAGE_BYTES:
            limit = MAX_MESSAGE_BYTES // (1024 * 1024)
            raise _LostError(f"was disconnected: it sent a message of more than {limit} MB")
        return events


# --------------------------------------------------------------------------- requests


class _Server:
    """Sends requests to the URL of an agent."""

    def __init__(
        self, make_client: Callable[[], httpx2.AsyncClient], url: str, headers: Mapping[str, str]
    ) -> None:
        self._make_client = make_client
        self._client = make_client()
        self.url = url
        self.headers = headers
        self.version = ""
        """The version of HTTP, such as `HTTP/2`."""

    @classmethod
    async def find(cls, address: RemoteAddress, headers: Mapping[str, str]) -> Self:
        """Ask for a stream without naming a connection, to find out which version of HTTP is spoken.

        With TLS the server chooses the version. Without TLS, a server on this machine is first talked to in
        HTTP/2. One that speaks only HTTP/1.1 does not understand that, and is asked again.
        """
        httpx = await asyncio.to_thread(_import_httpx)
        verify: Any = await asyncio.to_thread(tls_context, address.ca_file) if address.is_encrypted else False
        client = partial(_client, httpx, headers, verify, _cookies(httpx, headers))
        if address.is_this_machine and not address.is_encrypted:
            server = cls(partial(client, http1=False), address.url, headers)
            with contextlib.suppress(httpx.ProtocolError, httpx.ReadError, httpx.ReadTimeout):
                return await server._probe(PRIOR_KNOWLEDGE_SECONDS)
        server = cls(partial(client, http2=address.is_encrypted), address.url, headers)
        return await server._probe(OPEN_SECONDS)

    async def _probe(self, seconds: float) -> Self:
        """Raise an error if the server accepts no request of ours. Other answers do not matter."""
        try:
            response = await self.request("GET", {}, seconds=seconds)
            await response.aclose()
            self.version = response.http_version
        except BaseException:
            await self.close()
            raise
        if response.status_code in (*REFUSALS, 503):
            await self.close()
            fault = status_fault(self.url, response.status_code, self.headers)
            raise UserError(fault) if response.status_code in REFUSALS else _LostError(fault)
        return self

    async def request(
        self, method: str, ids: Mapping[str, str], *, body: bytes | None = None, seconds: float | None = None
    ) -> httpx2.Response:
        """Send a request and return the response, whose body is not read yet.

        Raises `UserError` for a redirect to another host. `seconds` is how long the answer may take; None for
        any time.
        """
        return await self._request(self._client, method, ids, body=body, seconds=seconds)

    @contextlib.asynccontextmanager
    async def stream(self, ids: Mapping[str, str]) -> AsyncIterator[httpx2.Response]:
        """Open an event stream, on a network connection of its own.

        If three requests wait on one connection with HTTP/2, httpx2 2.16 can leave what arrives for one of
        them unread until more arrives for another.
        """
        async with self._make_client() as client:
            response = await self._request(client, "GET", ids, seconds=None)
            try:
                yield response
            finally:
                await response.aclose()

    async def _request(
        self,
        client: httpx2.AsyncClient,
        method: str,
        ids: Mapping[str, str],
        *,
        seconds: float | None,
        body: bytes | None = None,
    ) -> httpx2.Response:
        headers = {**ids, "Accept": JSON_TYPE if method == "POST" else EVENT_STREAM}
        if body is not None:
            headers["Content-Type"] = JSON_TYPE
        timeout = dict.fromkeys(("connect", "write", "pool"), OPEN_SECONDS) | {"read": seconds}
        for _ in range(MAX_REDIRECTS):
            request = client.build_request(
                method, self.url, headers=headers, content=body, extensions={"timeout": timeout}
            )
            response = await client.send(request, stream=True)
            if response.status_code not in (301, 302, 307, 308):
                return response
            await response.aclose()
            target = urljoin(self.url, response.headers.get("Location", ""))
            if not same_origin(target, self.url):
                raise UserError(f"it redirects to another host, which is not followed: {shown(target)}")
            self.url = target
        raise UserError("it redirects too often")

    async def close(self) -> None:
        """Close the network connection, except for those of streams."""
        with contextlib.suppress(Exception):
            await self._client.aclose()


def _import_httpx() -> Any:
    import h2.connection  # noqa: F401  # httpx2 imports it in the event loop otherwise
    import httpx2

    # At the level DEBUG, these log the headers with the token, and at INFO each request.
    for name in ("httpx2", "httpcore2", "hpack"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return httpx2


def _cookies(httpx: Any, headers: Mapping[str, str]) -> CookieJar:
    """Return the cookies of a connection. Servers use them to recognise it; the user can name others."""
    cookies = httpx.Cookies(CookieJar())
    for name, value in headers.items():
        for pair in value.split(";") if name.lower() == "cookie" else ():
            key, _, text = pair.strip().partition("=")
            cookies.set(key, text)
    jar: CookieJar = cookies.jar
    return jar


def _client(
    httpx: Any,
    headers: Mapping[str, str],
    verify: Any,
    cookies: CookieJar,
    *,
    http1: bool = True,
    http2: bool = True,
) -> httpx2.AsyncClient:
    own = {name: value for name, value in headers.items() if name.lower() != "cookie"}
    client: httpx2.AsyncClient = httpx.AsyncClient(
        headers={"User-Agent": "acp-tui", "Accept-Encoding": "identity", **own},
        cookies=cookies,
        transport=httpx.AsyncHTTPTransport(
            verify=verify,
            http1=http1,
            http2=http2,
            trust_env=False,
            limits=httpx.Limits(keepalive_expiry=IDLE_SECONDS),
            socket_options=_keep_alive_options(),
        ),
        trust_env=False,
    )
    return client


def _keep_alive_options() -> list[tuple[int, int, int]]:
    """Return the options of a socket with which TCP finds connections that are dead without a word."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    seconds = ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL")  # the second is for macOS
    for name, value in [*((name, KEEP_ALIVE_SECONDS) for name in seconds), ("TCP_KEEPCNT", 3)]:
        if (number := getattr(socket, name, None)) is not None:
            options.append((socket.IPPROTO_TCP, number, value))
    return options


# --------------------------------------------------------------------------- responses


async def _body_of(response: httpx2.Response) -> bytes:
    """Return the body of a response, and close it. Of an error, only the beginning is read."""
    limit = MAX_MESSAGE_BYTES if response.is_success else MAX_ERROR_BYTES
    parts, size = [], 0
    try:
        async for block in response.aiter_bytes():
            parts.append(block)
            size += len(block)
            if size > limit:
                break
    finally:
        await response.aclose()
    if size > limit and response.is_success:
        raise _LostError(f"was disconnected: it sent a message of more than {limit // (1024 * 1024)} MB")
    return b"".join(parts)[:limit]


def _media_type(response: httpx2.Response) -> str:
    named = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return escape_line(named[:MAX_REASON_CHARACTERS]) or "no content type"


def _is_gone(response: httpx2.Response, body: bytes) -> bool:
    """Return True if the connection is lost. With the status 404, servers also refuse unknown sessions."""
    words = body.lower()
    is_session = response.status_code == 404 and b"session" in words and b"connection" not in words
    return response.status_code in GONE and not is_session


def _refusal(response: httpx2.Response, body: bytes, what: str) -> str:
    """Return a clause about a connection that ends because the server refused something."""
    status = f"HTTP status {response.status_code}"
    if response.status_code in (404, 410):
        return f"was disconnected: the server does not know the connection any more ({status})"
    said = _said(body)
    return f"was disconnected: it refused {what} with {status}{f': {said}' if said else ''}"


def _said(body: bytes) -> str:
    return escape_line(body.decode("utf-8", "replace").strip()[:MAX_REASON_CHARACTERS])


def _session_id(source: Any) -> str | None:
    found = source.get("sessionId") if isinstance(source, dict) else None
    if isinstance(found, str) and found.isascii() and found.isprintable():  # it goes into a header
        return found.strip() or None
    return None


def _connect_fault(error: Exception, address: RemoteAddress) -> str:
    """Return a clause with the reason why there is no connection."""
    if isinstance(error, (UserError, _LostError)):
        return str(error)
    if (fault := network_fault(error, address)) is not None:
        return fault
    said = escape_line(str(error) or type(error).__name__)[:MAX_REASON_CHARACTERS]
    return f"{shown(address.url)} did not answer as an HTTP server ({said})"


def _unreachable(launch: Launch, why: str) -> CannotStart:
    return CannotStart(f"{launch.title} cannot be reached: {why}.")

"""An HTTP server on this machine that runs an agent for each connection, with faults on request."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.remote_server import REPOSITORY
from tests.support.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
    Reply = tuple[int, dict[str, str], bytes]
    Override = Callable[["Request"], Reply | None]

ON_CONNECTION = ("session/new", "session/load", "session/list")
"""The methods whose answers come on the stream of the connection."""


@dataclass
class Request:
    """A request of the client. The names of headers are in lower case."""

    method: str
    path: str
    version: str
    headers: dict[str, str]
    body: Any = None


class HttpAgentServer:
    """An ASGI app that serves an agent over streamable HTTP, with a stream for each session."""

    def __init__(self, command: Sequence[str], override: Override | None = None) -> None:
        self.requests: list[Request] = []
        self.connections: dict[str, _Connection] = {}
        self.override = override
        self._command = command
        self._count = 0

    @property
    def received(self) -> list[dict[str, Any]]:
        """The messages of the client, including refused ones."""
        return [request.body for request in self.requests if isinstance(request.body, dict)]

    def named(self, method: str) -> list[Request]:
        """Return the requests with a JSON-RPC method, or with a method of HTTP."""
        return [
            one
            for one in self.requests
            if method == one.method or (isinstance(one.body, dict) and one.body.get("method") == method)
        ]

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _serve_lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close"})
        else:
            await self._serve_http(scope, receive, send)

    async def _serve_http(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        request = Request(scope["method"], scope["path"], scope["http_version"], headers)
        self.requests.append(request)
        if request.method == "POST":
            request.body = json.loads(await _read_body(receive))
        reply = self.override(request) if self.override is not None else None
        if reply is None:
            connection = self.connections.get(headers.get("acp-connection-id", ""))
            if request.method == "GET" and connection is not None:
                await self._stream(connection, headers.get("acp-session-id"), receive, send)
                return
            reply = await self._reply(request, connection)
        status, extra, body = reply
        found = [(name.lower().encode(), value.encode()) for name, value in extra.items()]
        await send({"type": "http.response.start", "status": status, "headers": found})
        await send({"type": "http.response.body", "body": body})

    async def _reply(self, request: Request, connection: _Connection | None) -> Reply:
        if request.method == "POST" and request.body.get("method") == "initialize":
            self._count += 1
            name = f"connection-{self._count}"
            connection = self.connections[name] = _Connection(self._command)
            answer = await connection.initialize(request.body)
            headers = {
                "Acp-Connection-Id": name,
                "Content-Type": "application/json",
                "Set-Cookie": f"at={name}; Path=/",
            }
            return 200, headers, json.dumps(answer).encode()
        if "acp-connection-id" not in request.headers:
            return 400, {}, b"Missing Acp-Connection-Id"
        if connection is None:
            return 404, {}, b"Unknown Acp-Connection-Id"
        if request.method == "DELETE":
            del self.connections[request.headers["acp-connection-id"]]
            await connection.end()
            return 202, {}, b""
        session = request.headers.get("acp-session-id")
        if session != connection.session_of(request.body):
            return 400, {}, b"Missing Acp-Session-Id"
        connection.send(request.body)
        return 202, {}, b""

    async def _stream(self, connection: _Connection, session: str | None, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        body: dict[str, Any] = {"type": "http.response.body", "more_body": True}
        await send({**body, "body": b": open\r\n\r\n"})
        queue, gone = connection.queue(session), asyncio.create_task(_gone(receive))
        while True:
            message = asyncio.create_task(queue.get())
            await asyncio.wait([message, gone], return_when=asyncio.FIRST_COMPLETED)
            if not message.done():
                message.cancel()
                return
            data = message.result()
            if data is None:
                await send({**body, "body": b"data: {", "more_body": False})
                gone.cancel()
                return
            await send({**body, "body": b"data: %b\n\n" % data})


class _Connection:
    """One agent process, and the queues of the streams."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._queues: dict[str | None, asyncio.Queue[bytes | None]] = {}
        self._routes: dict[Any, str | None] = {}  # of the client's requests
        self._asked: dict[Any, str | None] = {}  # of the agent's requests
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    def queue(self, session: str | None) -> asyncio.Queue[bytes | None]:
        return self._queues.setdefault(session, asyncio.Queue())

    async def initialize(self, message: dict[str, Any]) -> Any:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            limit=1 << 27,
            cwd=REPOSITORY,
        )
        self.send(message)
        assert self._process.stdout is not None
        answer = json.loads(await self._process.stdout.readline())
        self._reader = asyncio.create_task(self._read())
        return answer

    def session_of(self, message: dict[str, Any]) -> str | None:
        if "method" not in message:
            return self._asked.get(message["id"])
        found: str | None = message.get("params", {}).get("sessionId")
        return found

    def send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        if "method" in message and "id" in message:
            on_connection = message["method"] in ON_CONNECTION
            self._routes[message["id"]] = None if on_connection else self.session_of(message)
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            if "method" in message:
                session = message.get("params", {}).get("sessionId")
                self._asked[message.get("id")] = session
            else:
                session = self._routes.pop(message["id"], None)
            self.queue(session).put_nowait(line.rstrip(b"\n"))

    def cut(self, session: str | None) -> None:
        """End the stream of a session; None: that of the connection."""
        self.queue(session).put_nowait(None)

    async def end(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        for session in self._queues:
            self.cut(session)


@dataclass
class Running:
    """A running server. Its event loop is in a thread."""

    port: int
    scheme: str
    app: Any
    loop: asyncio.AbstractEventLoop
    stop_event: asyncio.Event
    thread: threading.Thread = field(init=False)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/acp"

    def stop(self) -> None:
        """End the server. The port is free afterwards."""
        self.loop.call_soon_threadsafe(self.stop_event.set)
        self.thread.join(TIMEOUT_SECONDS)

    def push(self, session: str | None, data: bytes) -> None:
        """Send an event on the streams of a session."""
        for connection in self.app.connections.values():
            self.loop.call_soon_threadsafe(connection.queue(session).put_nowait, data)

    def cut(self, session: str | None) -> None:
        """End the streams of a session within an event on all connections; None: those of the connections."""
        for connection in self.app.connections.values():
            self.loop.call_soon_threadsafe(connection.cut, session)

    def forget(self) -> None:
        """Lose all connections, without a word to the clients."""
        self.app.connections.clear()


@contextmanager
def http_server(
    app: Any, *, http2: bool = True, certificate: tuple[Path, Path] | None = None, port: int = 0
) -> Iterator[Running]:
    """Run an ASGI app, over HTTP/2 and HTTP/1.1 under `hypercorn`, or over HTTP/1.1 alone under `uvicorn`.

    `certificate` is the key and the certificate, for TLS.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    ready: list[Running] = []
    started = threading.Event()

    async def run() -> None:
        scheme = "https" if certificate else "http"
        number = listener.getsockname()[1]
        running = Running(number, scheme, app, asyncio.get_running_loop(), asyncio.Event())
        ready.append(running)
        started.set()
        serve = _run_hypercorn if http2 else _run_uvicorn
        with suppress(BaseExceptionGroup, RuntimeError, asyncio.CancelledError):  # it ends open streams so
            await serve(app, listener, certificate, running.stop_event)
        for connection in getattr(app, "connections", {}).values():
            await connection.end()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    started.wait(TIMEOUT_SECONDS)
    server = ready[0]
    server.thread = thread
    try:
        yield server
    finally:
        if thread.is_alive():
            server.stop()
        with suppress(OSError):
            listener.close()


async def _run_hypercorn(
    app: App, listener: socket.socket, certificate: tuple[Path, Path] | None, stop: asyncio.Event
) -> None:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.graceful_timeout = 0
    config.errorlog = None
    if certificate is not None:
        config.keyfile, config.certfile = map(str, certificate)
    await serve(app, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]


async def _run_uvicorn(
    app: App, listener: socket.socket, certificate: tuple[Path, Path] | None, stop: asyncio.Event
) -> None:
    import uvicorn

    files: dict[str, Any] = {}
    if certificate is not None:
        files = {"ssl_keyfile": certificate[0], "ssl_certfile": certificate[1]}
    config = uvicorn.Config(
        app, log_config=None, ws="none", lifespan="off", timeout_graceful_shutdown=0, **files
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve([listener]))
    await stop.wait()
    server.should_exit = server.force_exit = True
    await serving


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read_body(receive: Any) -> bytes:
    body = b""
    while True:
        message = await receive()
        part: bytes = message.get("body", b"")
        body += part
        if not message.get("more_body"):
            return body


async def _serve_lifespan(receive: Any, send: Any) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return

"""A WebSocket server on this machine that runs an agent for each connection, with faults on request."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from websockets.http11 import Request, Response

    Talk = Callable[[ServerConnection], Awaitable[None]]

TOKEN = "token-of-the-test-8f3a"
SCRIPT = [sys.executable, "-m", "tests.fake_agents.script"]
"""The agent that executes the steps in a prompt. The server starts agents in the repository."""
REPOSITORY = Path(__file__).parents[2]


@dataclass
class RemoteServer:
    """A running server. Its event loop is in a thread."""

    port: int
    scheme: str
    loop: asyncio.AbstractEventLoop
    stop_event: asyncio.Event
    thread: threading.Thread = field(init=False)
    headers: list[dict[str, str]] = field(default_factory=list)
    """The headers of each request for a connection, including refused ones."""
    connections: list[ServerConnection] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    """The messages that agents have received."""
    refuse: HTTPStatus | None = None
    """The status with which every connection is refused."""
    is_deaf: bool = False
    """Whether requests for a connection get no answer."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/acp"

    def abort(self) -> None:
        """Cut all connections without a closing handshake."""
        for connection in list(self.connections):
            self.loop.call_soon_threadsafe(connection.transport.abort)

    def freeze(self) -> None:
        """Read nothing more on the open connections, so that they are half-open."""
        for connection in list(self.connections):
            self.loop.call_soon_threadsafe(connection.transport.pause_reading)

    def methods(self) -> list[str]:
        """Return the methods that agents have received."""
        return [frame["method"] for frame in self.received if "method" in frame]

    def stop(self) -> None:
        """End the server. The port is free afterwards."""
        self.loop.call_soon_threadsafe(self.stop_event.set)
        self.thread.join(30)

    def cut_in_frame(self) -> None:
        """Send the beginning of a text frame of 100 bytes on all connections, and then cut them."""

        def cut(connection: ServerConnection) -> None:
            connection.transport.write(b"\x81\x64" + b'{"jsonrpc":')
            connection.transport.close()

        for connection in list(self.connections):
            self.loop.call_soon_threadsafe(cut, connection)


@contextmanager
def remote_server(
    command: Sequence[str] = (),
    *,
    talk: Talk | None = None,
    token: str | None = None,
    tls: ssl.SSLContext | None = None,
    redirect: str | None = None,
    refuse: HTTPStatus | None = None,
    deaf: bool = False,
    port: int = 0,
) -> Iterator[RemoteServer]:
    """Run a server.

    Args:
        command: The agent that is started for each connection.
        talk: What talks to the client, in place of an agent.
        token: The token that is required.
        tls: The certificate of the server.
        redirect: The address to redirect to, for the path `/acp`.
        refuse: The status with which every connection is refused.
        deaf: Whether requests for a connection get no answer.
        port: The port; 0 for a free one.
    """
    ready: list[RemoteServer] = []
    started = threading.Event()

    async def run() -> None:
        server: RemoteServer

        async def check(connection: ServerConnection, request: Request) -> Response | None:
            server.headers.append(dict(request.headers.raw_items()))
            if redirect is not None and request.path == "/acp":
                answer = connection.respond(HTTPStatus.FOUND, "")
                answer.headers["Location"] = redirect
                return answer
            if server.is_deaf:
                await server.stop_event.wait()
            if server.refuse is not None:
                return connection.respond(server.refuse, "")
            if token is not None and request.headers.get("Authorization") != f"Bearer {token}":
                return connection.respond(HTTPStatus.UNAUTHORIZED, "")
            return None

        async def handle(connection: ServerConnection) -> None:
            server.connections.append(connection)
            with suppress(ConnectionClosed):
                await (
                    talk(connection) if talk is not None else _run_agent(connection, command, server.received)
                )

        def add_id(_connection: Any, _request: Any, response: Response) -> None:
            response.headers["Acp-Connection-Id"] = "connection-42"

        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        server = RemoteServer(port, "wss" if tls else "ws", loop, stop, refuse=refuse, is_deaf=deaf)
        async with serve(
            handle,
            "127.0.0.1",
            port,
            process_request=check,
            process_response=add_id,
            ssl=tls,
            max_size=1 << 27,
            ping_interval=None,
            open_timeout=None,
            close_timeout=1,
        ) as running:
            server.port = next(iter(running.sockets)).getsockname()[1]
            ready.append(server)
            started.set()
            await server.stop_event.wait()
            for connection in server.connections:
                connection.transport.abort()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    started.wait(30)
    server = ready[0]
    server.thread = thread
    try:
        yield server
    finally:
        if thread.is_alive():
            server.stop()


async def _run_agent(
    connection: ServerConnection, command: Sequence[str], received: list[dict[str, Any]]
) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, limit=1 << 27, cwd=REPOSITORY
    )
    assert process.stdin is not None
    assert process.stdout is not None

    async def send() -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            await connection.send(line.rstrip(b"\n"), text=True)
        await connection.close()

    sender = asyncio.create_task(send())
    try:
        async for message in connection:
            assert isinstance(message, str)
            received.append(json.loads(message))
            process.stdin.write(message.encode() + b"\n")
    finally:
        sender.cancel()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Make a certificate for 127.0.0.1. Return the context of a server, and the file to trust."""
    key, file = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", file),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return context, file

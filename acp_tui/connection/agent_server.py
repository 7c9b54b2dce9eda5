"""Serves an agent over WebSocket: each connection gets an agent process of its own.

As the protocol's remote transport says, a text frame is one JSON-RPC message. Messages pass unchanged, with
two exceptions: line breaks in a frame become spaces, because they would end the message on the agent's stdin,
and requests that name a folder outside the served one are answered here.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import os
import uuid
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.connection.agent_process import AgentProcess
from acp_tui.connection.errors import CannotStart
from acp_tui.protocol.json_rpc import BYTE_ORDER_MARK, LineSplitter, decode
from acp_tui.session.record import INVALID_PARAMS, INVALID_REQUEST
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import ssl

    from websockets.asyncio.server import Server, ServerConnection
    from websockets.http11 import Request, Response

    from acp_tui.config.agent_catalogue import Launch

ENDPOINT = "/acp"
"""The path of the address, which is a custom of the protocol."""
MAX_CONNECTIONS = 8
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
PING_SECONDS = 20.0
PONG_SECONDS = 60.0
"""How long the answer to a ping may take. A message of 64 MB can be in front of it on a slow line."""
CLOSE_SECONDS = 2.0
EXIT_STATUS_SECONDS = 2.0
"""How long to wait for the exit of an agent that has closed its stdout, before it is ended."""
MAX_SHOWN_BYTES = 4000
"""The longest line of an agent's output that is shown in full."""
MAX_REASON_BYTES = 120
"""WebSocket allows 123."""
PARSE_ERROR = -32700
INTERNAL_FAILURE = 1011
"""The WebSocket close code for a fault on the side of the server."""
# `websockets` logs headers, and so the token, at the level DEBUG, and a traceback for each failed handshake.
log = logging.getLogger("acp_tui.connection.agent_server.websocket")
log.setLevel(logging.CRITICAL)


class AgentServer:
    """A WebSocket server that starts an agent for each connection, and ends it with the connection."""

    def __init__(
        self,
        launch: Launch,
        folder: Path,
        token: str,
        *,
        origins: Iterable[str] = (),
        say: Callable[[str], None],
    ) -> None:
        """Create the server.

        Args:
            launch: The agent.
            folder: The folder in which agents start. Sessions elsewhere are refused.
            token: What clients must send as `Authorization: Bearer`.
            origins: The web origins that are not refused.
            say: Shows a line about a connection. It can contain control characters.
        """
        self._launch = launch
        self._folder = folder.resolve()
        self._token = token.encode()
        self._origins = tuple(origins)
        self._say = say
        self._count = 0
        self._tasks: set[asyncio.Task[Any]] = set()  # one for each open connection
        self._server: Server | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Start to accept connections. Return the port, which the system chooses if `port` is 0.

        Raises `OSError` if the address cannot be used.
        """
        from websockets.asyncio.server import serve
        from websockets.typing import Origin

        self._server = await serve(
            self._serve,
            host,
            port,
            ssl=tls,
            origins=[None, *map(Origin, self._origins)],
            process_request=self._refuse,
            process_response=_add_id,
            server_header=None,
            compression=None,  # would cost more time than it saves: most messages are short
            max_size=MAX_MESSAGE_BYTES,
            ping_interval=PING_SECONDS,
            ping_timeout=PONG_SECONDS,
            close_timeout=CLOSE_SECONDS,
            logger=log,
        )
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Close all connections, and wait until their agents have ended."""
        if self._server is not None:
            self._server.close()
            while self._tasks:
                await asyncio.wait(self._tasks)

    # ----------------------------------------------------------------- opening a connection

    def _refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer that refuses a connection; None if it is accepted, except for its origin."""
        response = None
        if request.path.partition("?")[0] != ENDPOINT:
            response = connection.respond(HTTPStatus.NOT_FOUND, f"The path is {ENDPOINT}.\n")
        elif not self._has_token(request):
            response = connection.respond(HTTPStatus.UNAUTHORIZED, "The token is missing or wrong.\n")
            response.headers["WWW-Authenticate"] = "Bearer"
        elif len(self._tasks) >= MAX_CONNECTIONS:
            text = f"There are {MAX_CONNECTIONS} connections already.\n"
            response = connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, text)
        if response is not None and response.body is not None:
            self._say(f"refused {_peer(connection)}: {response.body.decode().strip()}")
        return response

    def _has_token(self, request: Request) -> bool:
        given = request.headers.get_all("Authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        right = hmac.compare_digest(token.strip().encode(errors="surrogateescape"), self._token)
        return right and scheme.lower() == "bearer"

    # ----------------------------------------------------------------- a connection

    async def _serve(self, connection: ServerConnection) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._count += 1
        served = _ServedAgent(connection, self._folder, f"[{self._count}] ", self._say)
        served.say(f"connected from {_peer(connection)}")
        reason = await served.run(self._launch)
        await connection.close(INTERNAL_FAILURE, _shorten(reason))  # does nothing if the client is gone
        served.say(reason)


class _ServedAgent:
    """One connection and its agent."""

    def __init__(
        self, connection: ServerConnection, folder: Path, prefix: str, say: Callable[[str], None]
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._prefix = prefix
        self._say = say
        self._stderr = LineSplitter(MAX_SHOWN_BYTES)

    def say(self, text: str) -> None:
        """Show a line with the number of the connection."""
        self._say(self._prefix + text)

    async def run(self, launch: Launch) -> str:
        """Run the agent until one side ends. Return a clause that says which, and how the agent ended."""
        try:
            agent = await AgentProcess.spawn(launch, str(self._folder), on_stderr=self._show_stderr)
        except CannotStart as error:
            self.say(str(error))
            return f"{launch.title} cannot be started"
        tasks = [
            asyncio.create_task(self._forward_to_agent(agent)),
            asyncio.create_task(self._forward_to_client(agent)),
            # The other two can be waiting for the agent.
            asyncio.create_task(self._connection.wait_closed()),
        ]
        reason = None
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[1].done() and not tasks[0].done():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(agent.wait(), EXIT_STATUS_SECONDS)
                reason = "closed its stdout and was ended"
        finally:
            for task in tasks:
                task.cancel()
            ended = await agent.close(reason=reason)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        if rest := self._stderr.rest():
            self._show_line(rest)
        faults = [one for one in results if isinstance(one, Exception)]
        if faults:
            logging.getLogger(__name__).error("Serving a connection failed", exc_info=faults[0])
        if reason is None:
            return f"disconnected; {launch.title} was ended"
        return ended.describe(launch.title)

    async def _forward_to_agent(self, agent: AgentProcess) -> None:
        """Forward messages until the connection ends."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while True:
                frame = await self._connection.recv()
                if isinstance(frame, bytes):
                    continue  # binary frames have no meaning in this transport
                answer, is_refused = self._check(frame)
                if answer is not None:
                    await self._connection.send(json.dumps(answer))
                if is_refused or not agent.writable:
                    continue
                agent.write(frame.replace("\r", " ").replace("\n", " ").encode() + b"\n")
                with contextlib.suppress(ConnectionError):  # `_forward_to_client` notices the agent's end
                    await agent.drain()

    async def _forward_to_client(self, agent: AgentProcess) -> None:
        """Forward messages until the agent's stdout or the connection ends."""
        from websockets.exceptions import ConnectionClosed

        splitter = LineSplitter(MAX_MESSAGE_BYTES)
        with contextlib.suppress(ConnectionClosed):
            while block := await agent.read():
                for line in splitter.feed(block):
                    await self._send(line)
            await self._send(splitter.rest())

    async def _send(self, line: bytes) -> None:
        """Send a line of the agent if it is a message; show it otherwise."""
        text = line.decode("utf-8", "replace").strip().removeprefix(BYTE_ORDER_MARK)
        if isinstance(decode(text), dict | list):
            await self._connection.send(text)
        elif text:
            self.say(f"not a message on stdout: {text[:MAX_SHOWN_BYTES]}")

    def _show_stderr(self, block: bytes) -> None:
        for line in self._stderr.feed(block):
            self._show_line(line)

    def _show_line(self, line: bytes) -> None:
        self.say(line.decode("utf-8", "replace").rstrip())

    # ----------------------------------------------------------------- what the client may ask for

    def _check(self, frame: str) -> tuple[Any, bool]:
        """Return the answer to a frame that is not forwarded, or None; and whether it is not forwarded."""
        try:
            message = json.loads(frame, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            self.say(f"refused a message that is not JSON: {error}")
            return _error(None, PARSE_ERROR, f"The message is not JSON: {error}"), True
        items = message if isinstance(message, list) else [message]
        faults = [_folder_fault(item, self._folder) for item in items]
        if not any(faults):
            return None, False
        self.say(f"refused {' '.join(filter(None, faults))}")
        answers = [
            _error(item["id"], INVALID_PARAMS, fault)
            if fault
            else _error(item["id"], INVALID_REQUEST, "Another message of the batch was refused.")
            for item, fault in zip(items, faults, strict=True)
            if isinstance(item, dict) and "method" in item and "id" in item
        ]
        if not answers:
            return None, True
        return (answers if isinstance(message, list) else answers[0]), True


def _folder_fault(message: Any, folder: Path) -> str | None:
    """Return a sentence if the message names another folder than `folder` or one in it; None otherwise."""
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict):
        return None
    more = params.get("additionalDirectories")
    if not isinstance(more, list | None):
        return "additionalDirectories must be a list."
    for name, path in (("cwd", params.get("cwd")), *(("additionalDirectories", one) for one in more or ())):
        if name == "cwd" and path is None:
            continue
        if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
            return f"{name}: not an absolute path."
        if not Path(os.path.realpath(path)).is_relative_to(folder):
            return f"{name}: {path} is outside the served folder {folder}."
    return None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object. An agent might use the first of two values, while this server checked the second."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not allowed")


def _error(request_id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def _add_id(_connection: ServerConnection, _request: Request, response: Response) -> None:
    if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
        response.headers["Acp-Connection-Id"] = str(uuid.uuid4())


def _peer(connection: ServerConnection) -> str:
    address = connection.remote_address
    return f"{address[0]} port {address[1]}" if address else "a client"


def _shorten(reason: str) -> str:
    """Return what a WebSocket close frame can hold of a reason."""
    return escape_line(reason).encode()[:MAX_REASON_BYTES].decode(errors="ignore")

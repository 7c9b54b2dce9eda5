"""The socket through which bridges and acp-tui's own MCP server reach a conversation.

The protocol is JSON-RPC in lines of JSON. Each call of a method contains the session's key as `session`, so
that the processes of an earlier agent are refused. Each line below gives a method, its other parameters, its
meaning, and its result, if the result is an object:

    server   {name}                             an MCP server's definition {server, roots, environ, forms}
    listed   {name, digests, tools}             the complete list of the server's tools {}
    call     {name, tool, arguments, digest}    may this tool be called? {allowed, why}
    form     {name, message, schema}            a server's question to the user {action, content}
    called   {name, tool, arguments, result, error, seconds}    a call has ended (notification)
    log      {name, kind, text}                 output of the server, for its log (notification)
    tools    {}                                 the tools of acp-tui's own server
    tool     {name, arguments}                  a call of a tool of acp-tui's own server {content, isError, …}
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import struct
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.mcp.json_rpc_peer import JsonRpcError, JsonRpcPeer, SocketStream
from acp_tui.processes.reaper import FOLDER_NAME_BYTES, Reaper, ReaperClosedError
from acp_tui.session.record import INVALID_PARAMS, METHOD_NOT_FOUND

if TYPE_CHECKING:
    Handler = Callable[[dict[str, Any]], Awaitable[Any]]
    """Called with the parameters of a request; returns the result or raises `JsonRpcError`."""

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
"""The maximum length of a message. A result with several images takes several megabytes."""
MAX_CONNECTIONS = 64
MAX_PENDING = 1000
"""The maximum number of unprocessed notifications per connection. Further ones are dropped."""
_ACCEPTING_STEPS = 3
"""How many passes of the event loop it takes to accept a connection that is waiting.

A server that is closed earlier would lose the connection.
"""
MAX_PATH_BYTES = 100
"""The maximum length of the socket's path. The system's limit is 104 bytes on macOS and 108 on Linux."""


class AppSocket:
    """A unix socket that only the user can connect to. `open` creates the socket."""

    def __init__(self, handlers: Mapping[str, Handler], reaper: Reaper) -> None:
        """Does not open the socket.

        Args:
            handlers: Maps methods to handlers. The caller may add entries later.
            reaper: Deletes the socket's folder if acp-tui is killed.
        """
        self._handlers = handlers
        self._reaper = reaper
        self._server: asyncio.Server | None = None
        self._folder: Path | None = None
        self._connections: dict[asyncio.Task[None], SocketStream] = {}
        self._opening = asyncio.Lock()
        self.session_key = ""
        """The key that each message must contain. `renew` replaces it."""

    @property
    def path(self) -> Path:
        assert self._folder is not None
        return self._folder / "app.sock"

    @property
    def is_open(self) -> bool:
        return self._server is not None

    async def open(self) -> Path:
        """Open the socket if it is closed, and return its path. Raises `UserError`."""
        async with self._opening:
            if self._server is None:
                self.session_key = self.session_key or secrets.token_hex(8)
                try:
                    self._folder = self._private_folder()
                    self._server = await asyncio.start_unix_server(self._connected, path=str(self.path))
                    self.path.chmod(0o600)
                except OSError as error:
                    await self.close()
                    raise UserError(
                        f"The socket for MCP servers cannot be opened: {error.strerror or error}."
                    ) from None
        return self.path

    async def renew(self) -> None:
        """Choose a new key, and close all connections, which use the old key."""
        self.session_key = secrets.token_hex(8)
        await self._end_connections()

    async def close(self) -> None:
        """Close the socket and all connections, and delete the socket's file."""
        server, self._server = self._server, None
        if self._folder is not None:
            self._reaper.delete_folder(self._folder)
            self._folder = None
        if server is not None:
            for _ in range(_ACCEPTING_STEPS):
                await asyncio.sleep(0)
            server.close()
        await self._end_connections()

    async def _end_connections(self) -> None:
        connections = dict(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for stream in connections.values():
            await stream.close()  # a task that was cancelled before it began has not closed its stream

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None or len(self._connections) >= MAX_CONNECTIONS or not _is_same_user(writer):
            writer.close()
            return
        stream = SocketStream(reader, writer)
        connection = asyncio.create_task(self._serve(stream))
        self._connections[connection] = stream
        connection.add_done_callback(self._connections.pop)

    async def _serve(self, stream: SocketStream) -> None:
        async def request(method: str, params: Any, _request_id: int | str) -> Any:
            return await self._answer(method, params)

        pending: set[asyncio.Task[None]] = set()

        def notify(method: str, params: Any) -> None:
            if len(pending) >= MAX_PENDING:
                log.debug("A message on the socket for MCP servers was dropped: %s", method)
                return
            task = tasks.create_task(self._process_notification(method, params))
            pending.add(task)
            task.add_done_callback(pending.discard)

        try:
            async with asyncio.TaskGroup() as tasks:
                peer = JsonRpcPeer(
                    stream, on_request=request, on_notification=notify, max_line_bytes=MAX_MESSAGE_BYTES
                )
                await peer.run()
        finally:
            await stream.close()

    async def _process_notification(self, method: str, params: Any) -> None:
        """Process a notification. An invalid one is only logged."""
        try:
            await self._answer(method, params)
        except JsonRpcError as error:
            log.warning("A message on the socket for MCP servers was ignored: %s", error.message)
        except Exception:
            log.exception("Processing the message %s on the socket for MCP servers failed", method)

    async def _answer(self, method: str, params: Any) -> Any:
        handler = self._handlers.get(method)
        if handler is None:
            raise JsonRpcError(METHOD_NOT_FOUND, f"acp-tui does not know the method {method!r}.")
        key = params.get("session") if isinstance(params, dict) else None
        if not isinstance(key, str) or not secrets.compare_digest(key.encode(), self.session_key.encode()):
            raise JsonRpcError(INVALID_PARAMS, "The session is no longer open in acp-tui.")
        return await handler(params)

    def _private_folder(self) -> Path:
        """Create a folder that only the user can enter, for the socket.

        The path of a socket in this folder is not longer than `MAX_PATH_BYTES`.
        """
        name = f"/acp-tui-{'x' * 2 * FOLDER_NAME_BYTES}/app.sock"
        parents = [os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"]  # noqa: S108
        for parent in filter(None, parents):
            if len(os.fsencode(parent)) + len(name) > MAX_PATH_BYTES:
                continue
            with contextlib.suppress(OSError, ReaperClosedError):
                return self._reaper.create_folder(parent)
        raise OSError("there is no writable temporary folder with a short enough path")


def _is_same_user(writer: asyncio.StreamWriter) -> bool:
    """Return False if another user has connected, although the folder's mode should prevent that.

    Always returns True on systems that do not report the user, such as macOS.
    """
    option = getattr(socket, "SO_PEERCRED", None)  # only on Linux
    connection = writer.get_extra_info("socket")
    if option is None or connection is None:
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
    _pid, uid, _gid = struct.unpack("3i", credentials)
    return bool(uid == os.getuid())

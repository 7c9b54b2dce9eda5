"""The connection from a bridge, or from the process of acp-tui's own server, to the running acp-tui."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

from acp_tui.errors import UsageError, UserError
from acp_tui.mcp.json_rpc_peer import JsonRpcError, JsonRpcPeer, SocketStream
from acp_tui.session.record import METHOD_NOT_FOUND


class AppLink:
    """A connection to one conversation of the app. `controller.mcp.app_socket` lists the methods to call."""

    def __init__(self, stream: SocketStream, session_key: str) -> None:
        self._stream = stream
        self._key = session_key
        self._peer = JsonRpcPeer(stream, on_request=_refuse)
        self._task = asyncio.create_task(self._peer.run())

    @classmethod
    async def connect(cls, path: Path, session_key: str) -> AppLink:
        """Connect to the app. Raises `UserError`."""
        try:
            reader, writer = await asyncio.open_unix_connection(str(path))
        except OSError as error:
            raise UserError(f"Could not connect to acp-tui: {path}: {error.strerror or error}.") from None
        return cls(SocketStream(reader, writer), session_key)

    async def request(self, method: str, **params: Any) -> Any:
        """Return the result of a request. Raises `JsonRpcError`, or `PeerClosedError` if the app is gone."""
        return await self._peer.request(method, {"session": self._key, **params})

    def post(self, method: str, **params: Any) -> None:
        """Send a notification, which has no answer."""
        self._peer.notify(method, {"session": self._key, **params})

    async def wait_closed(self) -> None:
        """Wait until the app has closed the connection."""
        await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop answering the app and close the connection to it."""
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._stream.close()


async def _refuse(method: str, _params: Any, _request_id: int | str) -> Any:
    raise JsonRpcError(METHOD_NOT_FOUND, f"Unknown method: {method}")


async def open_standard_streams() -> SocketStream:
    """Take over stdin and stdout for messages. Afterwards, `print` writes to stderr, and stdin is empty.

    Raises `UserError` if stdin or stdout is neither a pipe nor a socket nor a terminal.
    """
    if any(_is_unusable_device(descriptor) for descriptor in (0, 1)):
        raise _wrong_streams()
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb"))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(outgoing, "wb")
        )
    except ValueError:
        raise _wrong_streams() from None
    return SocketStream(reader, asyncio.StreamWriter(transport, protocol, None, loop))


def _is_unusable_device(descriptor: int) -> bool:
    """Return True for a device such as /dev/null, which asyncio accepts but never reads."""
    return stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor)


def _wrong_streams() -> UserError:
    message = "This command is meant to be started by an agent: stdin and stdout must be pipes."
    return UsageError(message)

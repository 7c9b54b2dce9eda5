"""The connection from a bridge, or from the process of acp-tui's own server, to the running acp-tui."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.mcp.json_rpc_peer import METHOD_NOT_FOUND, JsonRpcPeer, RpcError, SocketStream

if TYPE_CHECKING:
    from pathlib import Path


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
        """Return the result of a request. Raises `RpcError`, or `PeerClosedError` if the app is gone."""
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
    raise RpcError(METHOD_NOT_FOUND, f"Unknown method: {method}")

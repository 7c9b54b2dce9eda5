"""The server's side of a bridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from acp_tui.mcp.json_rpc_peer import RequestId


class Upstream(Protocol):
    """A connection to the real server."""

    async def request(self, method: str, params: Any, request_id: RequestId | None = None) -> Any:
        """Pass a request on and return its result. Raises `RpcError`.

        If the task is cancelled, the request is cancelled at the server.
        """

    def notify(self, method: str, params: Any) -> None:
        """Pass a notification on."""

    async def close(self) -> None:
        """End the connection and the server's process."""


@dataclass(frozen=True, slots=True)
class Downstream:
    """What a server can send to the agent, and where it is started."""

    request: Callable[[str, Any], Awaitable[Any]]  # answers a request of the server; raises `RpcError`
    notify: Callable[[str, Any], None]  # passes a notification of the server on
    log: Callable[[str, str], None]  # a kind ("stderr", "noise") and a text
    roots: list[Path]  # the first one is the working directory

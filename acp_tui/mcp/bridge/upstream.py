"""The two sides of a bridge: the server (`Upstream`) and the agent (`Downstream`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from acp_tui.mcp.json_rpc_peer import RequestId


class Upstream(Protocol):
    """The connection of a bridge to the server."""

    async def request(self, method: str, params: Any, request_id: RequestId | None = None) -> Any:
        """Return the result of a request of the agent. Raises `RpcError`.

        If the task is cancelled while the server works, the server is told to cancel the request, unless
        MCP forbids this for the method.
        """

    def notify(self, method: str, params: Any) -> None:
        """Pass a notification on to the server."""

    async def close(self) -> None:
        """End the connection and the server's process."""


@dataclass(frozen=True, slots=True)
class Downstream:
    """The agent's side of a bridge: the functions that the connection to the server may call."""

    request: Callable[[str, Any], Awaitable[Any]]  # answers a request of the server; raises `RpcError`
    notify: Callable[[str, Any], None]  # passes a notification of the server on to the agent
    log: Callable[[str, str], None]  # records output; the kind is "stderr" or "noise"
    roots: list[Path]  # the folders of the workspace; the server is started in the first

"""Answers to the requests of MCP clients, for a server that only has tools, in old and new MCP revisions.

Up to revision 2025-11-25, a client begins with a handshake, the request `initialize`. Since revision
2026-07-28, there is no handshake, and each request names its revision in `_meta`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui import __version__
from acp_tui.mcp.json_rpc_peer import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_tui.session.mcp_tool import OWN_SERVER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    Notify = Callable[[str, dict[str, Any]], Awaitable[None]]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
VERSIONS = ("2026-07-28",)
"""The supported MCP revisions that have no handshake."""
INSTRUCTIONS = (
    "Tools that reach the user of acp-tui, the terminal program in which you run: show the user files and "
    "diffs, ask questions, send notifications. The user sees every call and may have to allow it, so a call "
    "can take minutes and can be rejected."
)
PROGRESS_SECONDS = 10.0
"""Seconds between two progress notifications while the user or a tool keeps a call waiting."""

UNSUPPORTED_VERSION = -32022
NO_CACHING = {"ttlMs": 0, "cacheScope": "private"}
"""The fields that tell the client not to cache a result."""

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"


class ToolSource(Protocol):
    """The tools of a server."""

    async def tools(self) -> list[dict[str, Any]]:
        """Return the tools as MCP objects."""

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return an MCP `CallToolResult`, even if the tool fails."""


class McpMessages:
    """Answers the requests of one MCP client."""

    def __init__(self, source: ToolSource, *, progress_seconds: float = PROGRESS_SECONDS) -> None:
        self._source = source
        self._progress_seconds = progress_seconds

    async def answer(self, method: str, params: Any, notify: Notify) -> dict[str, Any]:
        """Return the result of a request. Raises `RpcError`.

        `notify` sends a notification, given by its method and parameters, to the client.
        """
        if params is not None and not isinstance(params, dict):
            raise RpcError(INVALID_PARAMS, "params must be an object")
        params = params or {}
        version = _requested_version(params)
        if version is not None and version not in VERSIONS:
            data = {"supported": list(VERSIONS), "requested": version}
            raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        result = await self._result(method, params, notify, is_new=version is not None)
        if version is None and method != "server/discover":
            return result
        return {"resultType": "complete", **result, "_meta": {_SERVER_KEY: server_info()}}

    async def _result(
        self, method: str, params: dict[str, Any], notify: Notify, *, is_new: bool
    ) -> dict[str, Any]:
        match method:
            case "initialize" if not is_new:
                return _initialize(params)
            case "server/discover":
                return {
                    "supportedVersions": list(VERSIONS),
                    "capabilities": {"tools": {}},
                    "instructions": INSTRUCTIONS,
                    **NO_CACHING,
                }
            case "ping":
                return {}
            case "tools/list":
                return {"tools": await self._source.tools(), **(NO_CACHING if is_new else {})}
            case "tools/call":
                return await self._call(params, notify)
        raise RpcError(METHOD_NOT_FOUND, "Method not found", {"method": method})

    async def _call(self, params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "tools/call: name must be a string")
        if arguments is not None and not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "tools/call: arguments must be an object")
        if name not in {tool["name"] for tool in await self._source.tools()}:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}")
        async with self._progress(params, notify):
            return await self._source.call(name, arguments or {})

    @contextlib.asynccontextmanager
    async def _progress(self, params: Mapping[str, Any], notify: Notify) -> AsyncIterator[None]:
        """Report progress during a call if the client asked for progress. Many clients then wait longer."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not isinstance(token, str | int):
            yield
            return

        async def report() -> None:
            count = 0
            while True:
                await asyncio.sleep(self._progress_seconds)
                count += 1
                message = "Waiting for the user or for the tool"
                await notify(
                    "notifications/progress", {"progressToken": token, "progress": count, "message": message}
                )

        task = asyncio.create_task(report())
        try:
            yield
        finally:
            task.cancel()


def server_info() -> dict[str, str]:
    """Return the name and version of acp-tui's own server."""
    return {"name": OWN_SERVER, "title": "acp-tui", "version": __version__}


def _requested_version(params: Mapping[str, Any]) -> str | None:
    """Return the MCP revision in `_meta` of a request, or None. Clients with a handshake put none there."""
    meta = params.get("_meta")
    version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def _initialize(params: Mapping[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    }

"""Answers to the requests of MCP clients, for a server that only has tools, in old and new MCP revisions.

Up to revision 2025-11-25, a client begins with a handshake, the request `initialize`. Since revision
2026-07-28, there is no handshake, and each request names its revision in `_meta`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui import __version__
from acp_tui.mcp.app_link import AppLink, open_standard_streams
from acp_tui.mcp.json_rpc_peer import JsonRpcError, JsonRpcPeer, RequestId
from acp_tui.session.mcp_tool import OWN_SERVER
from acp_tui.session.record import INVALID_PARAMS, METHOD_NOT_FOUND

if TYPE_CHECKING:
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
        """Return the result of a request. Raises `JsonRpcError`.

        `notify` sends a notification, given by its method and parameters, to the client.
        """
        if params is not None and not isinstance(params, dict):
            raise JsonRpcError(INVALID_PARAMS, "params must be an object")
        params = params or {}
        version = _requested_version(params)
        if version is not None and version not in VERSIONS:
            data = {"supported": list(VERSIONS), "requested": version}
            raise JsonRpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
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
        raise JsonRpcError(METHOD_NOT_FOUND, "Method not found", {"method": method})

    async def _call(self, params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise JsonRpcError(INVALID_PARAMS, "tools/call: name must be a string")
        if arguments is not None and not isinstance(arguments, dict):
            raise JsonRpcError(INVALID_PARAMS, "tools/call: arguments must be an object")
        if name not in {tool["name"] for tool in await self._source.tools()}:
            raise JsonRpcError(INVALID_PARAMS, f"Unknown tool: {name}")
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


def _tool(
    name: str, title: str, description: str, properties: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return {"name": name, "title": title, "description": description, "inputSchema": schema}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


SHOW_FILE = _tool(
    "show_file",
    "Show a file",
    "Show the user a text file. It opens on their screen; you do not get its content.",
    {
        "path": _text("Path of the file, absolute or relative to the session's directory."),
        "line": {"type": "integer", "minimum": 1, "description": "The line to start at, counted from 1."},
    },
    ("path",),
)
SHOW_DIFF = _tool(
    "show_diff",
    "Show a diff",
    "Show the user a change as a coloured diff. Nothing is written. With `path` alone, the tool shows how "
    "the file has changed since the session began; with `old` and `new`, the change from one to the other.",
    {
        "path": _text("Path of the file, absolute or relative to the session's directory."),
        "old": _text("The text before the change; leave it out for a new file."),
        "new": _text("The text after the change."),
    },
    ("path",),
)
ASK_USER = _tool(
    "ask_user",
    "Ask the user",
    "Ask the user a question and return the answer. Without a schema, the answer is a single text. The user "
    "can decline.",
    {
        "question": _text("The question."),
        "schema": {
            "type": "object",
            "description": "A JSON Schema of type object. The user sees a form with one field per property.",
        },
    },
    ("question",),
)
NOTIFY = _tool(
    "notify",
    "Notify the user",
    "Tell the user something that must not be missed. The message is shown in the conversation, and as a "
    "desktop notification if the user is looking at another window.",
    {"message": _text("One or two sentences.")},
    ("message",),
)
OPEN_URL = _tool(
    "open_url",
    "Open a web page",
    "Open a page in the user's browser. The user sees the whole address and has to agree each time.",
    {"url": _text("The address, beginning with http:// or https://.")},
    ("url",),
)
READ_SELECTION = _tool(
    "read_selection",
    "Read the selection",
    "Return the text that the user has selected in the conversation or in the prompt.",
    {},
)

BUILT_IN = (SHOW_FILE, SHOW_DIFF, ASK_USER, NOTIFY, OPEN_URL, READ_SELECTION)


class AppTools:
    """The tools of the running acp-tui as a `ToolSource`."""

    def __init__(self, link: AppLink) -> None:
        self._link = link

    async def tools(self) -> list[dict[str, Any]]:
        """Return the tools as MCP objects."""
        found: list[dict[str, Any]] = await self._link.request("tools")
        return found

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool in the app. If the task is cancelled, the app is told to cancel the call."""
        result: dict[str, Any] = await self._link.request("tool", name=name, arguments=arguments)
        return result


async def serve(socket: Path, session_key: str) -> None:
    """Serve the agent until it closes stdin or the app closes the connection. Raises `UserError`."""
    link = await AppLink.connect(socket, session_key)
    try:
        messages = McpMessages(AppTools(link))

        async def answer(method: str, params: Any, _request_id: RequestId) -> dict[str, Any]:
            return await messages.answer(method, params, notify)

        async def notify(method: str, params: dict[str, Any]) -> None:
            peer.notify(method, params)

        peer = JsonRpcPeer(await open_standard_streams(), on_request=answer)
        agent, app = asyncio.create_task(peer.run()), asyncio.create_task(link.wait_closed())
        await asyncio.wait({agent, app}, return_when=asyncio.FIRST_COMPLETED)
        agent.cancel()
        app.cancel()
        await asyncio.gather(agent, app, return_exceptions=True)
    finally:
        await link.close()

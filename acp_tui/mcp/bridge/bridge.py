"""A bridge between one agent and one MCP server. It checks and records tool calls."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from acp_tui.mcp.bridge.tool_digests import ToolDigests
from acp_tui.mcp.bridge.upstream import Downstream
from acp_tui.mcp.inspection import LIST_TIMEOUT_SECONDS, MAX_ITEMS
from acp_tui.mcp.json_rpc_peer import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SERVER_ERROR,
    JsonRpcPeer,
    RpcError,
)
from acp_tui.session.json_depth import limit_depth
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.bridge.call_guard import CallGuard
    from acp_tui.mcp.bridge.upstream import Upstream
    from acp_tui.mcp.json_rpc_peer import ByteStream, RequestId

    OpenUpstream = Callable[[ResolvedServer, Downstream, dict[str, Any]], Awaitable[Upstream]]
    """Connects to a server. The last argument is the client capabilities to announce to the server."""

AGENT_CANCELLED = "The agent cancelled the call."
MAX_TOOL_PAGES = 100
_NO_HANDSHAKE = frozenset({METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS, -32022})
"""Codes of the errors with which servers of MCP revision 2026-07-28 may answer `initialize`.

-32022 means "unsupported version".
"""
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITY_FOR = {
    "roots/list": "roots",
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
}
"""The capability that an MCP client needs to answer a request of a server, by the request's method."""
_DECLINED = {
    "elicitation": "The agent that uses this server cannot show forms, so the user cannot be asked.",
    "sampling": "The agent that uses this server does not let servers use its model, and acp-tui has none.",
}


class Bridge:
    """A bridge between one agent and one server."""

    def __init__(
        self,
        server: ResolvedServer,
        stream: ByteStream,
        guard: CallGuard,
        *,
        roots: list[Path],
        open_upstream: OpenUpstream,
        open_translator: OpenUpstream | None = None,
    ) -> None:
        """Create a bridge.

        Args:
            server: The definition of the server.
            stream: The connection to the agent.
            guard: Decides whether calls are allowed, and records them.
            roots: The folders of the workspace; the first is the working directory.
            open_upstream: Connects to the server when the agent sends its first request.
            open_translator: Connects to a server that rejects `initialize`. The returned connection answers
                `initialize` in place of the server.
        """
        self._server = server
        self._guard = guard
        self._roots = roots
        self._open_upstream = open_upstream
        self._open_translator = open_translator
        self._downstream = Downstream(self._from_server, self._notify, guard.log, roots)
        self._upstream: Upstream | None = None
        self._opening = asyncio.Lock()
        self._capabilities: dict[str, Any] = {}
        self._digests = ToolDigests()
        self._listing: list[dict[str, Any]] = []  # the tools on the pages that the agent is requesting
        self._has_reported = False  # whether a complete list of tools was reported to the guard
        self._agent = JsonRpcPeer(stream, on_request=self._on_request, on_notification=self._on_notification)

    async def run(self) -> None:
        """Pass messages on in both directions until the agent closes its connection; then end the server."""
        try:
            await self._agent.run()
        finally:
            if self._upstream is not None:
                await self._upstream.close()

    # ----------------------------------------------------------------- from the agent

    async def _on_request(self, method: str, params: Any, request_id: RequestId) -> Any:
        upstream = await self._connect(method, params)
        match method:
            case "initialize":
                return await self._initialize(upstream, params, request_id)
            case "tools/list":
                page = await upstream.request(method, params, request_id)
                cursor = params.get("cursor") if isinstance(params, dict) else None
                return await self._filter_tools(page, continues=bool(cursor))
            case "tools/call":
                return await self._call(upstream, params, request_id)
        return await upstream.request(method, params, request_id)

    def _on_notification(self, method: str, params: Any) -> None:
        if self._upstream is not None:
            self._upstream.notify(method, params)

    async def _connect(self, method: str, params: Any) -> Upstream:
        """Return the connection to the server. The agent's first request opens the connection."""
        if self._upstream is None:
            async with self._opening:
                if self._upstream is None:
                    self._capabilities = _capabilities(method, params)
                    self._upstream = await self._open_upstream(self._server, self._downstream, self._offered)
        return self._upstream

    async def _initialize(self, upstream: Upstream, params: Any, request_id: RequestId) -> Any:
        try:
            return await upstream.request("initialize", self._with_own_capabilities(params), request_id)
        except RpcError as error:
            if error.code not in _NO_HANDSHAKE or self._open_translator is None:
                raise
        await upstream.close()
        self._upstream = await self._open_translator(self._server, self._downstream, self._offered)
        return await self._upstream.request("initialize", params, request_id)

    @property
    def _offered(self) -> dict[str, Any]:
        """The client capabilities announced to the server: the agent's, and those that the bridge adds."""
        offered = {"roots": {}, **self._capabilities}
        if self._guard.forms:
            agents = offered.get("elicitation")
            offered["elicitation"] = {**(agents if isinstance(agents, dict) else {}), "form": {}}
        return offered

    def _with_own_capabilities(self, params: Any) -> Any:
        """Return `params` with the agent's capabilities replaced by those in `_offered`."""
        return {**params, "capabilities": self._offered} if isinstance(params, dict) else params

    # ----------------------------------------------------------------- tools

    async def _filter_tools(self, result: Any, *, continues: bool) -> Any:
        """Remove excluded tools from a result of `tools/list`, and note the digests of all tools."""
        tools = _tools(result)
        if tools is None:
            return result
        self._digests.show(tools, continues=continues)
        self._listing = [*(self._listing if continues else ()), *tools]
        if not result.get("nextCursor"):
            await self._report_tools(self._listing)
        return {**result, "tools": [tool for tool in tools if self._server.allows_tool(tool["name"])]}

    async def _report_tools(self, tools: list[dict[str, Any]]) -> None:
        """Report the first complete list of tools, before a call of one of them is decided."""
        if not self._has_reported:
            self._has_reported = True
            await self._guard.report_tools(self._digests.all(), tools[:MAX_ITEMS])

    async def _call(self, upstream: Upstream, params: Any, request_id: RequestId) -> Any:
        """Pass a tool call on to the server if the call is allowed. Refused calls are recorded too."""
        name = params.get("name") if isinstance(params, dict) else None
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "tools/call: name must be a string")
        arguments = params.get("arguments")
        began = time.monotonic()
        result: Any = None
        error: str | None = AGENT_CANCELLED
        try:
            self._require_allowed(name)
            error = await self._guard.refusal(name, arguments, await self._digest(upstream, name))
            began = time.monotonic()  # waiting for permission does not count
            if error is not None:
                return _tool_error(error, params)
            error = AGENT_CANCELLED
            result = await self._call_in_time(upstream, name, params, request_id)
            error = None
        except RpcError as failure:
            error = failure.message
            raise
        else:
            return result
        finally:
            self._guard.record(name, arguments, began, result=result, error=error)

    def _require_allowed(self, name: str) -> None:
        if not self._server.allows_tool(name):
            tool = f"The tool {visible_line(name)} of {self._server.name}"
            raise RpcError(INVALID_PARAMS, f"{tool} is excluded by acp-tui's settings.")

    async def _call_in_time(self, upstream: Upstream, name: str, params: Any, request_id: RequestId) -> Any:
        limit = self._server.timeout
        try:
            async with asyncio.timeout(limit):
                return await upstream.request("tools/call", params, request_id)
        except TimeoutError:
            what = f"{self._server.name} did not answer the call to {visible_line(name)}"
            text = f"{what} within {limit:g} seconds (the server's `timeout` in acp-tui's settings)."
            raise RpcError(SERVER_ERROR, text) from None

    async def _digest(self, upstream: Upstream, name: str) -> str | None:
        """Return the digest of a tool; None if the server does not list the tool in time.

        Asks the server for its tools if the digest is unknown or outdated. This may take as long as the call
        itself, but at most `LIST_TIMEOUT_SECONDS`.
        """
        limit = min(self._server.timeout or LIST_TIMEOUT_SECONDS, LIST_TIMEOUT_SECONDS)
        cursor, listed = None, list[dict[str, Any]]()
        try:
            async with asyncio.timeout(limit):
                for _ in range(MAX_TOOL_PAGES):
                    if self._digests.is_known(name) and self._has_reported:
                        break
                    page = await upstream.request("tools/list", {"cursor": cursor} if cursor else {})
                    tools = _tools(page)
                    self._digests.add(tools or [])
                    listed += tools or []
                    cursor = page.get("nextCursor") if isinstance(page, dict) else None
                    if tools is not None and not cursor:
                        await self._report_tools(listed)
                    if not cursor:
                        break
        except (RpcError, TimeoutError):
            pass  # some servers do not list their tools
        return self._digests.of(name)

    # ----------------------------------------------------------------- from the server

    async def _from_server(self, method: str, params: Any) -> Any:
        """Answer a request of the server: pass it on to the agent, or answer for the agent.

        The bridge itself answers the requests in `_CAPABILITY_FOR` that the agent does not support. If the
        bridge can ask the user, the bridge also handles all forms: an agent would decline the forms, or pass
        them to acp-tui anyway.
        """
        is_question = method == "elicitation/create" and isinstance(params, dict)
        if is_question and self._guard.forms and params.get("mode", "form") == "form":
            return await self._guard.form(str(params.get("message", "")), params.get("requestedSchema"))
        capability = _CAPABILITY_FOR.get(method)
        if capability is None or self._capabilities.get(capability) is not None:
            return await self._agent.request(method, params)
        if capability == "roots":
            return {"roots": [{"uri": root.as_uri(), "name": root.name} for root in self._roots]}
        if capability == "elicitation" and self._guard.forms:
            return {"action": "decline"}
        raise RpcError(INVALID_REQUEST, _DECLINED[capability])

    def _notify(self, method: str, params: Any) -> None:
        if method == "notifications/tools/list_changed":
            self._digests.forget()
        elif method == "notifications/message":
            self._guard.log("message", json.dumps(limit_depth(params)))
        self._agent.notify(method, params)


def _tools(result: Any) -> list[dict[str, Any]] | None:
    """Return the tools in a result of `tools/list`; None if the result is invalid."""
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        return None
    return [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]


def _capabilities(method: str, params: Any) -> dict[str, Any]:
    """Return the agent's capabilities, which are part of its first request."""
    if not isinstance(params, dict):
        return {}
    if method == "initialize":
        found = params.get("capabilities")
    else:
        meta = params.get("_meta")
        found = meta.get(_CAPABILITIES_KEY) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}


def _tool_error(text: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return a result that tells the model why the tool did not run."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    meta = params.get("_meta")
    if isinstance(meta, dict) and _VERSION_KEY in meta:
        result["resultType"] = "complete"  # required since 2026-07-28, where each request names its version
    return result

"""A bridge between one agent and one MCP server. It checks and records tool calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui.mcp.inspection import LIST_TIMEOUT_SECONDS, MAX_ITEMS, combined_digest, tool_digest
from acp_tui.mcp.json_rpc_peer import (
    SERVER_ERROR,
    ByteStream,
    JsonRpcError,
    JsonRpcPeer,
    PeerClosedError,
    RequestId,
)
from acp_tui.mcp.server_recorder import LogBudget
from acp_tui.session.record import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from acp_tui.session.safe_text import escape_line, limit_depth

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.app_link import AppLink

    OpenUpstream = Callable[[ResolvedServer, "Downstream", dict[str, Any]], Awaitable["Upstream"]]
    """Connects to a server. The last argument is the client capabilities to announce to the server."""

MAX_RECORDED = 8_000_000
"""The maximum length of arguments or a result as JSON. The app refuses messages that are too long."""
KEPT_CHARACTERS = 200_000
"""The number of characters kept when a value is cut because it is longer than `MAX_RECORDED`."""
NO_APP = "not connected to acp-tui; calls are allowed without asking and are not recorded."
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


class Upstream(Protocol):
    """The connection of a bridge to the server."""

    async def request(self, method: str, params: Any, request_id: RequestId | None = None) -> Any:
        """Return the result of a request of the agent. Raises `JsonRpcError`.

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

    request: Callable[[str, Any], Awaitable[Any]]  # answers a request of the server; raises `JsonRpcError`
    notify: Callable[[str, Any], None]  # passes a notification of the server on to the agent
    log: Callable[[str, str], None]  # records output; the kind is "stderr" or "noise"
    roots: list[Path]  # the folders of the workspace; the server is started in the first


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
        except JsonRpcError as error:
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
            raise JsonRpcError(INVALID_PARAMS, "tools/call: name must be a string")
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
        except JsonRpcError as failure:
            error = failure.message
            raise
        else:
            return result
        finally:
            self._guard.record(name, arguments, began, result=result, error=error)

    def _require_allowed(self, name: str) -> None:
        if not self._server.allows_tool(name):
            tool = f"The tool {escape_line(name)} of {self._server.name}"
            raise JsonRpcError(INVALID_PARAMS, f"{tool} is excluded by acp-tui's settings.")

    async def _call_in_time(self, upstream: Upstream, name: str, params: Any, request_id: RequestId) -> Any:
        limit = self._server.timeout
        try:
            async with asyncio.timeout(limit):
                return await upstream.request("tools/call", params, request_id)
        except TimeoutError:
            what = f"{self._server.name} did not answer the call to {escape_line(name)}"
            text = f"{what} within {limit:g} seconds (the server's `timeout` in acp-tui's settings)."
            raise JsonRpcError(SERVER_ERROR, text) from None

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
        except (JsonRpcError, TimeoutError):
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
        raise JsonRpcError(INVALID_REQUEST, _DECLINED[capability])

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


class ToolDigests:
    """The digests of a server's tools, as last listed to the agent and to the bridge.

    A hostile server can list one definition for the agent and another one for acp-tui. A tool with several
    definitions gets a combined digest, which differs from the digest of each definition.
    """

    def __init__(self) -> None:
        self._shown: dict[str, set[str]] = {}
        self._listed: dict[str, str] = {}
        self._is_stale = False  # whether the server has reported a change since the agent listed the tools

    def show(self, tools: list[dict[str, Any]], *, continues: bool) -> None:
        """Store the digests of the tools on a page that the agent has requested.

        The first page, for which `continues` is False, replaces all stored digests.
        """
        if not continues:
            self._shown, self._listed, self._is_stale = {}, {}, False
        for tool in tools:
            self._shown.setdefault(tool["name"], set()).add(tool_digest(tool))

    def add(self, tools: list[dict[str, Any]]) -> None:
        """Store the digests of the tools on a page that the bridge has requested, not the agent."""
        self._listed |= {tool["name"]: tool_digest(tool) for tool in tools}

    def forget(self) -> None:
        """Treat all definitions as outdated, because the server has reported a change."""
        self._listed, self._is_stale = {}, True

    def is_known(self, name: str) -> bool:
        """Return True if the server has listed a tool and has not reported a change since then."""
        return name in self._listed or (name in self._shown and not self._is_stale)

    def all(self) -> dict[str, str]:
        """Return the digest of each tool that the server has listed, by name."""
        names = dict.fromkeys([*self._shown, *self._listed])
        return {name: digest for name in names if (digest := self.of(name)) is not None}

    def of(self, name: str) -> str | None:
        """Return the digest of a tool; None if no digest of the tool is stored."""
        found = {*self._shown.get(name, ()), *filter(None, [self._listed.get(name)])}
        return combined_digest(found) if found else None


# --------------------------------------------------------------------------- what is allowed and recorded


class CallGuard(Protocol):
    """Allows or refuses the calls to one server, records them, and passes the server's forms to the user."""

    forms: bool
    """Whether `form` can ask the user."""

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:
        """Return why a call is not allowed, as a sentence; None if the call is allowed.

        `digest` is the digest of the tool; None if the server did not list the tool.
        """

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        """Report a complete list of the server's tools, and the digest of each tool.

        The first list that is seen counts as accepted by the user.
        """

    async def form(self, message: str, schema: Any) -> dict[str, Any]:
        """Ask the user to fill in a form, and return the answer as an MCP elicitation result."""

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        """Record a call that has ended. `began` is its start on the monotonic clock."""

    def log(self, kind: str, text: str) -> None:
        """Record output of the server."""


class AppCallGuard:
    """A guard that leaves permission, forms and records to a conversation of the running acp-tui."""

    def __init__(self, link: AppLink, name: str, *, forms: bool = False) -> None:
        """`forms` says whether the conversation can show forms."""
        self._link = link
        self._name = name
        self._budget = LogBudget()
        self.forms = forms

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:
        call = {"name": self._name, "tool": tool, "arguments": arguments, "digest": digest}
        try:
            answer = await self._link.request("call", **call)
        except PeerClosedError:
            return "The call was refused: acp-tui has exited and cannot ask the user."
        except JsonRpcError as error:
            return f"The call was refused: {error.message}"
        if isinstance(answer, dict) and answer.get("allowed") is True:
            return None
        return str(answer.get("why") if isinstance(answer, dict) else "") or "The call was refused."

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        tools = limit_depth(tools)
        if len(json.dumps(tools)) > MAX_RECORDED:
            tools = []  # the app needs them only to show later how they have changed
        with contextlib.suppress(PeerClosedError, JsonRpcError):  # without the app, every call is refused
            await self._link.request("listed", name=self._name, digests=digests, tools=tools)

    async def form(self, message: str, schema: Any) -> dict[str, Any]:
        try:
            answer = await self._link.request("form", name=self._name, message=message, schema=schema)
        except (PeerClosedError, JsonRpcError):
            return {"action": "cancel"}
        return answer if isinstance(answer, dict) else {"action": "cancel"}

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        seconds = round(time.monotonic() - began, 4)
        outcome = {"result": _cut(result), "error": error, "seconds": seconds}
        self._link.post("called", name=self._name, tool=tool, arguments=_cut(arguments), **outcome)

    def log(self, kind: str, text: str) -> None:
        """Record output of the server, unless the server writes too much."""
        if lines := self._budget.pass_lines(text):
            self._link.post("log", name=self._name, kind=kind, text="\n".join(lines))


def _cut(value: Any) -> Any:
    """Return the value, cut if it is too deep or too long for a message to the app."""
    value = limit_depth(value)
    text = json.dumps(value)
    if len(text) <= MAX_RECORDED:
        return value
    return f"{text[:KEPT_CHARACTERS]}… {len(text) - KEPT_CHARACTERS:,} more characters"


class NoCallGuard:
    """A guard that allows every call and records nothing, for a bridge that runs without the app."""

    forms = False

    async def form(self, message: str, schema: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"action": "decline"}

    async def refusal(self, tool: str, arguments: Any, digest: str | None) -> str | None:  # noqa: ARG002
        await asyncio.sleep(0)
        return None

    async def report_tools(self, digests: dict[str, str], tools: list[dict[str, Any]]) -> None:
        """Do nothing: no call is compared with what the user has accepted."""

    def record(self, tool: str, arguments: Any, began: float, *, result: Any, error: str | None) -> None:
        """Do nothing: there is no conversation in which to record the call."""

    def log(self, kind: str, text: str) -> None:
        """Copy the server's stderr to this process's stderr; ignore other output."""
        if kind == "stderr":
            sys.stderr.write(text)
            sys.stderr.flush()

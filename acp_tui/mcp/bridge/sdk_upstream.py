"""A server that a bridge connects to with the MCP SDK.

The bridge needs the SDK for servers that use HTTP or SSE, and for servers of an MCP revision that the agent
does not know. The SDK adds the tokens of a sign-in and the HTTP headers of MCP revision 2026-07-28.

The bridge also connects servers of revision 2026-07-28 to agents that use an older revision. These agents
begin with `initialize`, which the servers do not support. The bridge answers `initialize` with what the SDK
knows about the server. The servers ask questions in their results. The bridge passes the questions on as
requests.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import TypeAdapter

from acp_tui.mcp.callbacks import ElicitationRequest, ServerHandlers
from acp_tui.mcp.connection import McpConnection, connect
from acp_tui.mcp.failures import ServerFailure
from acp_tui.mcp.json_rpc_peer import SERVER_ERROR, JsonRpcError, RequestId
from acp_tui.mcp.sign_in.actions import provider_for
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.record import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.bridge.bridge import Downstream

MAX_ROUNDS = 10
"""The maximum number of rounds of questions that a server may ask before it answers a request."""
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
_ANY: TypeAdapter[Any] = TypeAdapter(Any)


class _RawRequest(types.Request[dict[str, Any] | None, str]):
    """A request with any method and parameters."""


class SdkUpstream:
    """A connection to a server, made with the SDK. Use `connect` to create one."""

    def __init__(self, connection: McpConnection, downstream: Downstream, stack: AsyncExitStack) -> None:
        self._connection = connection
        self._downstream = downstream
        self._stack = stack

    @classmethod
    async def connect(
        cls, server: ResolvedServer, downstream: Downstream, capabilities: dict[str, Any]
    ) -> SdkUpstream:
        """Connect to a server. Raises `JsonRpcError`.

        The server can ask the user questions if the client capabilities `capabilities` have `elicitation`.
        """

        async def elicit(request: ElicitationRequest) -> FormAnswer:
            return await _ask_agent(request, downstream)

        def notify(method: str, params: dict[str, Any] | None) -> None:
            downstream.notify(method, _without_subscription(params))

        handlers = ServerHandlers(
            on_elicitation=elicit if capabilities.get("elicitation") is not None else None,
            on_notification=notify,
            on_stderr=lambda line: downstream.log("stderr", f"{line}\n"),
            on_noise=lambda line: downstream.log("noise", line),
            on_repair=lambda sentence: downstream.log("stderr", f"acp-tui: {sentence}\n"),
        )
        stack = AsyncExitStack()
        try:
            connection = await stack.enter_async_context(
                connect(server, roots=downstream.roots, auth=provider_for(server), handlers=handlers)
            )
        except ServerFailure as failure:
            raise JsonRpcError(SERVER_ERROR, failure.sentence) from None
        return cls(connection, downstream, stack)

    async def close(self) -> None:
        """End the connection and the server's process."""
        await self._stack.aclose()

    def notify(self, method: str, params: Any) -> None:
        """Drop a notification of the agent: the SDK has its own session with the server."""

    async def request(self, method: str, params: Any, request_id: RequestId | None = None) -> Any:  # noqa: ARG002
        """Answer a request of the agent, or pass it on to the server with a new id. Raises `JsonRpcError`."""
        is_modern = self._connection.is_modern
        match method:
            case "initialize":
                return self._initialize(params if isinstance(params, dict) else {})
            case "server/discover" if is_modern:
                return self._discover()
            case "server/discover" | "subscriptions/listen":
                raise JsonRpcError(
                    METHOD_NOT_FOUND, f"acp-tui's bridge does not support {method} for this server."
                )
            case "ping":
                return {}
            case "logging/setLevel" if is_modern:
                return {}  # since revision 2026-07-28, the level is part of each request
            case "tools/list":
                return await self._list_tools(params)
        return await self._answer(method, params)

    # ----------------------------------------------------------------- handshake

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        connection = self._connection
        asked = params.get("protocolVersion")
        agreed = connection.protocol_version
        if connection.is_modern:
            agreed = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
        info = connection.server_info or types.Implementation(name=connection.server.name, version="")
        result: dict[str, Any] = {
            "protocolVersion": agreed,
            "capabilities": _dump(connection.capabilities),
            "serverInfo": _dump(info),
        }
        return (
            result if connection.instructions is None else {**result, "instructions": connection.instructions}
        )

    def _discover(self) -> dict[str, Any]:
        found = self._connection.client.session.discover_result
        assert found is not None
        return _dump(found)

    # ----------------------------------------------------------------- requests

    async def _list_tools(self, params: Any) -> dict[str, Any]:
        """List the tools with the SDK, which needs their schemas for the HTTP headers of later calls."""
        cursor = params.get("cursor") if isinstance(params, dict) else None
        page = types.PaginatedRequestParams(cursor=cursor)
        try:
            return _dump(await self._connection.client.session.list_tools(params=page))
        except Exception as error:
            raise await self._rpc_error(error, "list its tools") from error

    async def _answer(self, method: str, params: Any) -> Any:
        """Return the result of a request.

        The server can return questions instead. An agent that uses revision 2026-07-28 or later gets them as
        they are. An older agent gets them as requests, and its answers are sent to the server until the
        server returns its final result. Raises `JsonRpcError` if there is none after `MAX_ROUNDS` rounds.
        """
        result = await self._send(method, params)
        agent_is_modern = isinstance(params, dict) and _VERSION_KEY in (params.get("_meta") or {})
        if agent_is_modern or not isinstance(params, dict):
            return result  # a modern agent handles questions in results itself
        rounds = 0
        while isinstance(result, dict) and result.get("resultType") == "input_required":
            if rounds == MAX_ROUNDS:
                name = self._connection.server.name
                raise JsonRpcError(
                    SERVER_ERROR, f"{name} asked for input {MAX_ROUNDS} times, but sent no result."
                )
            rounds += 1
            answers = {
                key: await self._downstream.request(question["method"], question.get("params"))
                for key, question in (result.get("inputRequests") or {}).items()
            }
            again = {**params, "inputResponses": answers}
            if (state := result.get("requestState")) is not None:
                again["requestState"] = state
            result = await self._send(method, again)
        return result

    async def _send(self, method: str, params: Any) -> Any:
        session = self._connection.client.session
        request = _RawRequest(method=method, params=params if isinstance(params, dict) else None)
        try:
            try:
                return await session.send_request(request, _ANY)
            except MCPError as error:
                if error.code != types.HEADER_MISMATCH or method != "tools/call":
                    raise
            await session.list_tools()  # the tool's schema has changed, and with it the headers
            return await session.send_request(request, _ANY)
        except Exception as error:
            raise await self._rpc_error(error, f"answer {method}") from error

    async def _rpc_error(self, error: Exception, action: str) -> JsonRpcError:
        """Return the server's own error, or an error that says why the connection failed."""
        if isinstance(error, MCPError) and error.code != types.CONNECTION_CLOSED:
            return JsonRpcError(error.code, error.message, error.data)
        failure = await self._connection.failure(error, action)
        return JsonRpcError(SERVER_ERROR, failure.sentence)


async def _ask_agent(request: ElicitationRequest, downstream: Downstream) -> FormAnswer:
    """Send a question of the server to the agent, and return the answer."""
    params: dict[str, Any] = {"mode": request.mode, "message": request.message}
    params |= {"url": request.url} if request.mode == "url" else {"requestedSchema": request.schema}
    try:
        answer = await downstream.request("elicitation/create", params)
    except JsonRpcError:
        return FormAnswer("cancel")
    content = answer.get("content") if isinstance(answer, dict) else None
    match answer:
        case {"action": "accept"}:
            return FormAnswer("accept", content if isinstance(content, dict) else None)
        case {"action": "decline"}:
            return FormAnswer("decline")
    return FormAnswer("cancel")


def _dump(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def _without_subscription(params: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the parameters without the SDK's subscription id, which the agent does not know."""
    meta = (params or {}).get("_meta")
    if params is None or not isinstance(meta, dict) or _SUBSCRIPTION_KEY not in meta:
        return params
    meta = {key: value for key, value in meta.items() if key != _SUBSCRIPTION_KEY}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return {**rest, "_meta": meta} if meta else rest

"""A filter between a transport and the SDK. It declines sampling and repairs answers.

acp-tui does not declare the sampling capability, because it has no language model for servers. If a server
requests sampling nevertheless, the filter's answer gives the reason; the SDK would only answer "Sampling not
supported".

The SDK rejects a whole answer because of one invalid part. `repair_answer` leaves the part out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    methods,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import BaseModel, ValidationError

from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream


_HANDSHAKES = ("initialize", "server/discover")
_LISTS: dict[str, tuple[str, str, type[BaseModel]]] = {
    "tools/list": ("tools", "tool", types.ListToolsResult),
    "prompts/list": ("prompts", "prompt", types.ListPromptsResult),
    "resources/list": ("resources", "resource", types.ListResourcesResult),
    "resources/templates/list": (
        "resourceTemplates",
        "resource template",
        types.ListResourceTemplatesResult,
    ),
}
"""By method: the key of the list in the answer, what an item is called, and the model of the answer."""
REPAIRED_METHODS = frozenset({*_HANDSHAKES, *_LISTS})
MAX_NAME = 100
"""The maximum number of characters of a name in a sentence."""


def repair_answer(
    method: str, version: str | None, result: dict[str, Any], note: Callable[[str], None]
) -> dict[str, Any]:
    """Return the result of a request without the parts that the SDK would reject.

    Args:
        method: The method of the request, one of `REPAIRED_METHODS`.
        version: The revision of the protocol; None if it is unknown.
        result: The result, as the server sent it.
        note: Called with a sentence about each part that is left out.
    """
    if method in _HANDSHAKES:
        return _repair_handshake(method, result, note)
    return _repair_list(method, version or LATEST_HANDSHAKE_VERSION, result, note)


# --------------------------------------------------------------------------- the handshake


def _repair_handshake(method: str, result: dict[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        return result  # it is not an MCP server
    found: dict[str, Any] = {}
    for name, value in capabilities.items():
        repaired = _repair_capability(name, value, note)
        if repaired is not None:
            found[name] = repaired
    repaired_result = {**result, "capabilities": found}
    if method == "initialize":
        repaired_result["serverInfo"] = _repair_server_info(result.get("serverInfo"), note)
    if not isinstance(result.get("instructions", ""), str):
        del repaired_result["instructions"]
        note("Its instructions are not a string and are ignored.")
    return repaired_result


def _repair_capability(name: str, value: Any, note: Callable[[str], None]) -> Any:
    """Return a capability as the SDK accepts it; None if the capability must be left out."""
    if value is None or _accepts(types.ServerCapabilities, {name: value}):
        return value
    shown = escape_line(name[:MAX_NAME])
    if name in ("experimental", "extensions") and isinstance(value, dict):
        kept = {key: one for key, one in value.items() if isinstance(one, dict)}
        for key in value.keys() - kept.keys():
            note(f"Its capability {shown}.{escape_line(key[:MAX_NAME])} is not an object and is ignored.")
        return kept
    if not value:
        note(f"Its capability {shown} is not an object and is ignored.")
        return None
    note(f"Its capability {shown} is invalid; acp-tui reads it as an empty object.")
    return {}


def _repair_server_info(info: Any, note: Callable[[str], None]) -> dict[str, Any]:
    if _accepts(types.Implementation, info):
        return dict(info)
    note("The information about the server, its name and version, is incomplete or invalid.")
    given = info if isinstance(info, dict) else {}
    return {key: given[key] if isinstance(given.get(key), str) else "" for key in ("name", "version")}


# --------------------------------------------------------------------------- lists


def _repair_list(
    method: str, version: str, result: dict[str, Any], note: Callable[[str], None]
) -> dict[str, Any]:
    key, item_name, model = _LISTS[method]
    if _fault(method, version, model, result) is None or not isinstance(result.get(key), list):
        return result
    rest = {name: value for name, value in result.items() if name != key}
    items = []
    for number, item in enumerate(result[key], 1):
        fault = _fault(method, version, model, {**rest, key: [item]})
        if fault is not None and _fault(method, version, model, {**rest, key: []}) is None:
            note(f"Its {item_name} {_item_name(item, number)} is left out: {_clause(fault, key)}.")
        else:
            items.append(item)
    return {**rest, key: items}


def _fault(method: str, version: str, model: type[BaseModel], result: dict[str, Any]) -> Any:
    """Return the first error that the SDK would report for an answer; None if it accepts the answer."""
    try:
        try:
            methods.validate_server_result(method, version, result)
        except ValidationError:
            raise
        except (KeyError, ValueError):  # the revision has no such method, or is unknown to the SDK
            pass
        model.model_validate(result, by_name=False)
    except ValidationError as error:
        return error.errors(include_url=False, include_input=False)[0]
    return None


def _item_name(item: Any, number: int) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return escape_line(name[:MAX_NAME]) if isinstance(name, str) and name.strip() else f"number {number}"


def _clause(fault: Any, key: str) -> str:
    """Return a clause that says which part of an item is missing or invalid."""
    path = [str(part) for part in fault["loc"] if part not in (key, 0)]
    place = escape_line(".".join(path)[:MAX_NAME])
    if fault["type"] == "missing":
        return f"it has no {place}"
    return f"{place} is invalid ({fault['msg']})" if place else str(fault["msg"])


def _accepts(model: type[BaseModel], value: Any) -> bool:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError:
        return False
    return True


SAMPLING_DECLINED = (
    "acp-tui declines sampling: it does not run a language model for servers. "
    "Configure the server with a model of its own, or use a tool that does not need one."
)
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@asynccontextmanager
async def filter_messages(
    transport: AbstractAsyncContextManager[TransportStreams],
    on_end: Callable[[], None],
    on_repair: Callable[[str], None],
) -> AsyncGenerator[TransportStreams]:
    """Open a transport on which sampling is declined and answers are repaired.

    `on_end` is called after the server's last message, `on_repair` with a sentence about each part that was
    left out of an answer.
    """
    async with transport as (received, to_send):
        requests = _SentRequests(to_send)
        yield _FilteredMessages(received, requests, on_end, on_repair), requests


class _SentRequests:
    """The stream of messages to the server. Remembers the requests whose answers may have to be repaired."""

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream
        self._methods: dict[RequestId, tuple[str, str | None]] = {}
        self._version: str | None = None  # as agreed in `initialize`

    def take(self, answer: JSONRPCResponse) -> tuple[str, str | None] | None:
        """Return the method of the request that a message answers, and its version of the protocol.

        None if the answer needs no repair.
        """
        found = self._methods.pop(answer.id, None)
        if found is None:
            return None
        method, version = found
        if method == "initialize":
            agreed = answer.result.get("protocolVersion")
            self._version = agreed if isinstance(agreed, str) else None
        return method, version or self._version

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest) and message.method in REPAIRED_METHODS:
            meta = (message.params or {}).get("_meta")
            version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
            self._methods[message.id] = (message.method, version)
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, traceback)


class _FilteredMessages:
    """The stream of the server's messages, without sampling requests and with repaired answers."""

    def __init__(
        self,
        received: ReadStream[SessionMessage | Exception],
        requests: _SentRequests,
        on_end: Callable[[], None],
        on_repair: Callable[[str], None],
    ) -> None:
        self._received = received
        self._requests = requests
        self._on_end = on_end
        self._on_repair = on_repair

    @property
    def last_context(self) -> object:
        """The context of the last message, for the SDK; None if the transport's stream has no context."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._received.receive()
            if isinstance(item, Exception) or not await self._decline(item):
                return self._repair(item)

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._received.__anext__()
            except StopAsyncIteration:
                self._on_end()
                raise
            if isinstance(item, Exception) or not await self._decline(item):
                return self._repair(item)

    async def _decline(self, item: SessionMessage) -> bool:
        message = item.message
        if not isinstance(message, JSONRPCRequest) or message.method != "sampling/createMessage":
            return False
        error = ErrorData(code=INVALID_REQUEST, message=SAMPLING_DECLINED)
        await self._requests.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
        return True

    def _repair(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
            return item
        request = self._requests.take(item.message)
        if request is None:
            return item
        result: dict[str, Any] = repair_answer(*request, item.message.result, self._on_repair)
        item.message = item.message.model_copy(update={"result": result})
        return item

    def __aiter__(self) -> Self:
        return self

    async def aclose(self) -> None:
        await self._received.aclose()

    async def __aenter__(self) -> Self:
        await self._received.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._received.__aexit__(kind, error, traceback)

"""Requests for tools, prompts and resources. Importing this module does not import the SDK.

Content is returned as ACP content blocks, so that the renderers of the conversation can draw it. To cancel a
request, cancel the task that awaits it; the SDK then notifies the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import BaseModel

    from acp_tui.mcp.connection import McpConnection

CALL_TIMEOUT_SECONDS = 600.0
"""The time limit of a call, unless the server's definition sets `timeout`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a call, as reported by the server."""

    done: float
    total: float | None = None
    message: str = ""  # raw text of the server: sanitize before display


@dataclass(frozen=True, slots=True)
class CallResult:
    content: list[dict[str, Any]]  # content blocks as in ACP
    structured: Any = None  # a JSON value; None if the result has none
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class PromptMessage:
    role: Literal["user", "assistant"]
    content: dict[str, Any]  # a content block as in ACP


@dataclass(frozen=True, slots=True)
class PromptResult:
    """A prompt with its arguments filled in."""

    description: str
    messages: list[PromptMessage] = field(default_factory=list)


async def call_tool(
    connection: McpConnection,
    name: str,
    arguments: dict[str, Any],
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> CallResult:
    """Call a tool and return its result, which can be the tool's own error. Raises `ServerFailure`."""

    async def report(progress: float, total: float | None, message: str | None) -> None:
        assert on_progress is not None
        on_progress(Progress(progress, total, message or ""))

    result = await _request(
        connection,
        f"call {name}",
        lambda: connection.client.call_tool(
            name,
            arguments,
            progress_callback=report if on_progress is not None else None,
        ),
    )
    content = [_json(block) for block in result.content]
    return CallResult(content, result.structured_content, is_error=result.is_error)


async def get_prompt(connection: McpConnection, name: str, arguments: dict[str, str]) -> PromptResult:
    """Return a prompt with its arguments filled in. Raises `ServerFailure`."""
    client = connection.client
    result = await _request(connection, f"get the prompt {name}", lambda: client.get_prompt(name, arguments))
    messages = [PromptMessage(message.role, _json(message.content)) for message in result.messages]
    return PromptResult(result.description or "", messages)


async def read_resource(connection: McpConnection, uri: str) -> list[dict[str, Any]]:
    """Return the contents of a resource as blocks of type `resource`. Raises `ServerFailure`."""
    client = connection.client
    result = await _request(connection, f"read {uri}", lambda: client.read_resource(uri))
    return [{"type": "resource", "resource": _json(part)} for part in result.contents]


async def _request(connection: McpConnection, action: str, send: Callable[[], Awaitable[Any]]) -> Any:
    from acp_tui.mcp.diagnosis import call_timeout

    seconds = connection.server.timeout or CALL_TIMEOUT_SECONDS
    try:
        with connection.announced_wait(action, seconds):
            async with asyncio.timeout(seconds):
                return await send()
    except TimeoutError:
        raise call_timeout(connection.server, action, seconds) from None
    except Exception as error:
        raise await connection.failure(error, action) from error


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)

"""Request parameters, built and validated by the SDK's models so that only schema fields are sent."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.connection.errors import NotSupported
from acp_tui.errors import UserError
from acp_tui.protocol.client_calls import STEERING

if TYPE_CHECKING:
    from pydantic import BaseModel

    from acp_tui.session.state import Agent

BASELINE_CONTENT_TYPES = frozenset({"text", "resource_link"})
"""The types of content blocks that every agent must accept in prompts."""
CONTENT_CAPABILITIES = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
NEWER_CAPABILITIES = (("session", "notices"), ("session", "compaction"), ("subagents",))
"""Client capabilities that are in the protocol's schema, but that the models of SDK 0.12.1 drop."""
TRACE_VARIABLES = ("traceparent", "tracestate", "baggage")


class SessionSetup(NamedTuple):
    """What every request to open a session contains."""

    cwd: str
    directories: Sequence[str] = ()  # additional ones
    servers: Sequence[Mapping[str, Any]] = ()  # MCP servers, as objects of ACP


def build_params(model: type[BaseModel], **fields: Any) -> dict[str, Any]:
    """Return the params of a request: the given fields that are not None and that the schema knows.

    Raises `UserError` if a field is not valid.
    """
    from pydantic import ValidationError

    given = {name: value for name, value in fields.items() if value is not None}
    try:
        valid = model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        name = given.get("name", model.__name__)
        raise UserError(f'Cannot send "{name}" to the agent: {where}: {first["msg"]}.') from None
    return valid.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


def add_newer_capabilities(built: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Add the given `NEWER_CAPABILITIES` to the `clientCapabilities` that an SDK model has built."""
    for *parents, name in NEWER_CAPABILITIES:
        source: Any = given
        for parent in parents:
            source = source.get(parent) or {}
        if name in source:
            target = built
            for parent in parents:
                target = target.setdefault(parent, {})
            target[name] = source[name]


def mcp_servers(
    servers: Sequence[Mapping[str, Any]], agent: Agent | None, title: str
) -> list[dict[str, Any]]:
    """Return the MCP servers as ACP objects.

    Raises `NotSupported` for a transport, other than stdio, that the agent did not advertise.
    """
    from acp import schema

    built_servers = []
    for server in servers:
        transport = server.get("type", "stdio")
        if transport != "stdio" and (agent is None or not agent.can("mcpCapabilities", transport)):
            name = server.get("name")
            raise NotSupported(f'{title} does not support MCP servers over {transport}, such as "{name}".')
        if transport in ("http", "sse"):
            model = schema.HttpMcpServer if transport == "http" else schema.SseMcpServer
            built_servers.append(build_params(model, **{"headers": [], **server}))
        elif transport == "acp":
            built_servers.append(build_params(schema.AcpMcpServer, **server))
        else:
            built_servers.append(build_params(schema.McpServerStdio, **{"args": [], "env": [], **server}))
    return built_servers


def prompt_blocks(
    blocks: Sequence[Mapping[str, Any]], agent: Agent | None, title: str
) -> list[dict[str, Any]]:
    """Return the validated blocks of a prompt. Raises `NotSupported` for a type the agent does not accept."""
    from acp import schema

    for block in blocks:
        content_type = block.get("type")
        if content_type in BASELINE_CONTENT_TYPES:
            continue
        capability = CONTENT_CAPABILITIES.get(str(content_type))
        if capability is None:
            raise NotSupported(f'The protocol has no content type "{content_type}".')
        if agent is None or not agent.can("promptCapabilities", capability):
            words = {"image": "images", "audio": "audio"}.get(capability, "embedded files")
            raise NotSupported(f"{title} does not accept {words} in prompts.")
    content: list[dict[str, Any]] = build_params(schema.PromptRequest, sessionId="", prompt=list(blocks))[
        "prompt"
    ]
    return content


class TraceContext:
    """The W3C trace context that requests carry, under the names that ACP reserves in `_meta`."""

    def __init__(self, traceparent: str = "environment") -> None:
        """`traceparent` is the value of the setting `telemetry.traceparent`."""
        self._traceparent = traceparent
        self._environment = {
            name: value for name in TRACE_VARIABLES if (value := os.environ.get(name.upper()))
        }

    def of(self, method: str) -> dict[str, str]:
        """Return the trace context of a request: the environment's is for all, a chosen one for prompts."""
        if self._traceparent == "environment":
            return self._environment
        if self._traceparent == "off" or method not in ("session/prompt", STEERING):
            return {}
        if self._traceparent == "random":
            return {"traceparent": f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"}
        return {"traceparent": self._traceparent}

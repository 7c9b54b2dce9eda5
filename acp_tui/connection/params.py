"""What we send, built by the SDK's schema models: exactly the schema's fields, or an error of ours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from acp_tui.connection.errors import NotOffered
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import BaseModel

    from acp_tui.session.state import Agent

    Model = TypeVar("Model", bound=BaseModel)

BASELINE_KINDS = frozenset({"text", "resource_link"})
CAPABILITY_OF_KIND = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
TRACE_VARIABLES = ("traceparent", "tracestate", "baggage")


def build_params(model: type[BaseModel], **fields: Any) -> dict[str, Any]:
    """The params of a request: what was given, as far as the schema knows it, and nothing else."""
    return to_wire(_valid(model, {name: value for name, value in fields.items() if value is not None}))


def _valid(model: type[Model], fields: dict[str, Any]) -> Model:
    from pydantic import ValidationError

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        what = fields.get("name", model.__name__)
        raise UserError(f"“{what}” cannot be sent to the agent: {where}: {first['msg']}.") from None


def to_wire(model: BaseModel) -> dict[str, Any]:
    """As it goes onto the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


def mcp_servers(
    servers: Sequence[Mapping[str, Any]], agent: Agent | None, title: str
) -> list[dict[str, Any]]:
    """MCP servers in the protocol's form; raises `NotOffered` for a transport the agent did not advertise."""
    from acp import schema

    built_servers = []
    for server in servers:
        kind = server.get("type", "stdio")
        if kind in ("http", "sse"):
            if agent is None or not agent.can("mcpCapabilities", kind):
                raise NotOffered(
                    f"{title} takes no MCP servers over {kind}: “{server.get('name')}” cannot be given to it."
                )
            model = schema.HttpMcpServer if kind == "http" else schema.SseMcpServer
            built_servers.append(build_params(model, **{"headers": [], **server}))
        else:
            built_servers.append(build_params(schema.McpServerStdio, **{"args": [], "env": [], **server}))
    return built_servers


def prompt_blocks(
    blocks: Sequence[Mapping[str, Any]], agent: Agent | None, title: str
) -> list[dict[str, Any]]:
    """The content of a prompt; raises `NotOffered` for a kind the agent cannot take."""
    from acp import schema

    for block in blocks:
        kind = block.get("type")
        if kind in BASELINE_KINDS:
            continue
        capability = CAPABILITY_OF_KIND.get(str(kind))
        if capability is None:
            raise NotOffered(f"The protocol has no content of the kind “{kind}”.")
        if agent is None or not agent.can("promptCapabilities", capability):
            words = {"image": "images", "audio": "audio"}.get(capability, "embedded files")
            raise NotOffered(f"{title} takes no {words} in a prompt.")
    content: list[dict[str, Any]] = build_params(schema.PromptRequest, sessionId="", prompt=list(blocks))[
        "prompt"
    ]
    return content


def trace_context() -> dict[str, str]:
    """The trace that our environment puts us into, under the names the protocol reserves in `_meta`."""
    return {name: value for name in TRACE_VARIABLES if (value := os.environ.get(name.upper()))}

"""What an agent is offered: of the client only what works, and to work with only what the agent takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp import servers_for_agent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from acp_tui.agents.launch import Launch
    from acp_tui.config.mcp import Server
    from acp_tui.session.state import Agent


def client_capabilities(
    *, elicitation: Collection[str] = (), terminal_sign_in: bool = False
) -> dict[str, Any]:
    """The `clientCapabilities` of `initialize`."""
    capabilities: dict[str, Any] = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        # Several agents run commands themselves and send the output nowhere but here.
        "_meta": {"terminal_output": True},
    }
    if terminal_sign_in:
        capabilities["auth"] = {"terminal": True}
    if elicitation:
        capabilities["elicitation"] = {mode: {} for mode in sorted(elicitation)}
    return capabilities


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """One MCP server of the settings, and whether the agent was given it."""

    name: str
    transport: str
    reason_not_sent: str | None = None
    """Why it was left out, without the first capital and the full stop; None: the agent has it."""


@dataclass(frozen=True, slots=True)
class SessionParameters:
    """What a session is opened with, beside its folder."""

    directories: list[str]
    servers: list[dict[str, Any]]  # MCP servers in the protocol's form
    given: list[McpServerStatus]  # all that are in the settings, with those that are left out
    left_out: list[str]  # what the agent does not take, in sentences


def session_parameters(
    agent: Agent, launch: Launch, directories: Iterable[Path], servers: Sequence[Server]
) -> SessionParameters:
    """The further folders and MCP servers, as this agent takes them."""
    left_out: list[str] = []
    names = [str(directory) for directory in directories]
    if names and not agent.can("sessionCapabilities", "additionalDirectories"):
        told = ", ".join(names)
        left_out.append(f"{launch.title} takes no additional directories: it is not told of {told}.")
        names = []
    http, sse = (agent.can("mcpCapabilities", transport) for transport in ("http", "sse"))
    sent, others = servers_for_agent(servers, launch.name, http=http, sse=sse)
    given = [McpServerStatus(server["name"], server.get("type", "stdio")) for server in sent]
    for server, reason, intended in others:
        given.append(McpServerStatus(server.name, server.transport, reason))
        if not intended:
            left_out.append(f"The MCP server {server.name} is left out: {reason}.")
    return SessionParameters(names, sent, given, left_out)

"""The client capabilities for `initialize`, and the session parameters that the agent supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp import servers_for_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from acp_tui.agents.launch import Launch
    from acp_tui.config.mcp import SentServer, Server, UnsentServer
    from acp_tui.session.state import Agent


def client_capabilities(*, elicitation: bool = False, terminal_sign_in: bool = False) -> dict[str, Any]:
    """Return the `clientCapabilities` of `initialize`.

    `elicitation`: forms can be shown to a user. `terminal_sign_in`: sign-in programs can run in a terminal.
    """
    capabilities: dict[str, Any] = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "subagents": {},
        # Several agents run commands themselves and report the output only in this extension.
        "_meta": {"terminal_output": True},
    }
    if terminal_sign_in:
        capabilities["auth"] = {"terminal": True}
        # An older extension: several agents use it to suggest the command that signs in.
        capabilities["_meta"]["terminal-auth"] = True
    if elicitation:
        capabilities["elicitation"] = {"form": {}, "url": {}}
    return capabilities


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """An MCP server in the settings, and whether and how it was sent to the agent."""

    name: str
    transport: str
    reason_not_sent: str | None = None
    """A clause that says why the server was not sent; None if it was sent."""
    bridge_reason: str | None = None
    """A clause that says why a bridge was sent in place of the server; None if no bridge was sent."""


@dataclass(frozen=True, slots=True)
class SessionParameters:
    """The parameters for opening a session, apart from its folder."""

    directories: list[str]
    servers: list[SentServer]
    statuses: list[McpServerStatus]  # of all MCP servers in the settings
    warnings: list[str]  # a sentence for everything that the agent does not support


def session_parameters(
    agent: Agent,
    launch: Launch,
    directories: Iterable[Path],
    servers: Sequence[Server],
    is_signed_in: Callable[[str], bool],
) -> SessionParameters:
    """Return the session parameters that the agent supports, with warnings about unsupported ones.

    `is_signed_in` returns whether the user has signed in at the MCP server with this URL.
    """
    warnings: list[str] = []
    names = [str(directory) for directory in directories]
    if names and not agent.can("sessionCapabilities", "additionalDirectories"):
        warnings.append(
            f"{launch.title} does not support additional directories; ignored: {', '.join(names)}."
        )
        names = []
    http, sse = (agent.can("mcpCapabilities", transport) for transport in ("http", "sse"))
    sent, others = servers_for_agent(servers, launch.name, http=http, sse=sse, is_signed_in=is_signed_in)
    statuses = [
        McpServerStatus(one.server.name, one.server.transport, bridge_reason=one.bridge_reason)
        for one in sent
    ]
    statuses += map(not_sent, others)
    warnings += [not_used_sentence(unsent) for unsent in others if not unsent.intended]
    return SessionParameters(names, sent, statuses, warnings)


def not_sent(unsent: UnsentServer) -> McpServerStatus:
    """Return the status of a server that the agent does not get."""
    return McpServerStatus(unsent.server.name, unsent.server.transport, unsent.reason)


def not_used_sentence(unsent: UnsentServer) -> str:
    """Return the notice for a server that the agent does not get."""
    return f"The MCP server {unsent.server.name} is not used: {unsent.reason}."

"""Selects the MCP servers that an agent gets, and gives the reason for each server that is left out."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.config.mcp.server import NO_STATE
from acp_tui.config.mcp.server_resolution import (
    CannotSendError,
    connection_for,
    require_valid,
    resolve_server,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from acp_tui.config.mcp.server import Server, ServerState
    from acp_tui.config.mcp.server_resolution import ResolvedServer


class SentServer(NamedTuple):
    """An MCP server that is sent to an agent."""

    server: ResolvedServer
    bridge_reason: str | None = (
        None  # why the agent gets a bridge to the server, as a clause; None: no bridge
    )


class UnsentServer(NamedTuple):
    """An MCP server that is not sent to an agent, with the reason."""

    server: Server
    reason: str  # as a clause
    intended: bool = False  # whether the user's settings exclude the server


class _NotWantedError(CannotSendError):
    """The user's configuration disables the server, replaces it, or limits it to other agents."""


def servers_for_agent(
    servers: Iterable[Server],
    agent: str,
    *,
    http: bool,
    sse: bool,
    environ: Mapping[str, str] | None = None,
    is_signed_in: Callable[[str], bool] = lambda _url: False,
) -> tuple[list[SentServer], list[UnsentServer]]:
    """Return the servers to send to an agent, and the other servers, each with the reason why it is not sent.

    Of several servers with the same name, only the last one can be sent.

    Args:
        servers: The servers, in ascending order of precedence.
        agent: The name of the agent.
        http: Whether the agent supports http servers.
        sse: Whether the agent supports sse servers.
        environ: The environment variables; by default those of this process.
        is_signed_in: Returns whether the user has signed in to the server with the given URL.
    """
    environment = os.environ if environ is None else environ
    wanted = list(servers)
    last = {server.name: server for server in wanted}
    supported = {"stdio": True, "http": http, "sse": sse}
    sent: list[SentServer] = []
    left_out: list[UnsentServer] = []
    for server in wanted:
        try:
            _require_sendable(server, agent, last[server.name], supported)
            resolved = resolve_server(server, environment)
            signed_in = server.transport != "stdio" and is_signed_in(resolved.url)
            reason = bridge_reason(server, supported, signed_in=signed_in)
            sent.append(SentServer(resolved, reason))
        except CannotSendError as error:
            left_out.append(UnsentServer(server, str(error), intended=isinstance(error, _NotWantedError)))
    return sent, left_out


def bridge_reason(
    server: Server,
    supported: Mapping[str, bool] | None = None,
    *,
    signed_in: bool = False,
) -> str | None:
    """Return why an agent gets a bridge to a server, as a clause; None if the agent gets the server itself.

    Args:
        server: The server.
        supported: Whether the agent supports each transport; by default the agent supports all.
        signed_in: Whether the user has signed in to the server.
    """
    if server.connection is not None:
        return 'its connection is set to "bridge"' if server.connection == "bridge" else None
    if connection_for(server) == "bridge":
        return "it needs your sign-in" if server.sign_in is not None else "its settings need the bridge"
    if supported is not None and not supported[server.transport]:
        return f"the agent does not support {server.transport} servers"
    if server.sign_in is None and signed_in:
        return "you are signed in"
    return None


def check_sendable(server: Server, agent: str) -> None:
    """Raise `CannotSendError` if the agent does not get the server.

    Does not check which transports the agent supports, or whether another definition replaces the server.
    """
    _require_sendable(server, agent, server, {"stdio": True, "http": True, "sse": True})
    resolve_server(server)


def _require_sendable(server: Server, agent: str, last: Server, supported: dict[str, bool]) -> None:
    """Raise `CannotSendError` if the server must not be sent to the agent.

    `last` is the last of the servers with the same name, and replaces the earlier servers. `supported`
    contains True for each transport that the agent supports.
    """
    if server is not last:
        raise _NotWantedError(f"replaced by the definition in {last.origin}")
    if reason := reason_off(server, agent):
        raise _NotWantedError(reason)
    require_valid(server)
    if server.connection == "direct" and not supported[server.transport]:
        raise CannotSendError(f"the agent does not support {server.transport} servers")


def reason_off(server: Server, agent: str) -> str | None:
    """Return why a server is off for an agent, as a clause; None if it is on.

    `acp-tui mcp enable` and `disable` take precedence over `enabled` in the definition, and, for a named
    agent, also over `agents`.
    """
    state = server.state
    if agent in state.disabled_for:
        return f"you disabled it for {agent}"
    if agent in state.enabled_for:
        return None
    if not server.enabled:
        return "it is disabled" if state.enabled is None else "you disabled it"
    if server.agents is not None and agent not in server.agents:
        return (
            f"it is only for {', '.join(server.agents)}" if server.agents else "its list of agents is empty"
        )
    return None


def switched_state(server: Server, *, enabled: bool, agent: str | None = None) -> ServerState:
    """Return the state that turns a server on or off: for one agent, or for all agents not set one by one.

    Values that would only repeat the definition are left out of the state.
    """
    state = server.state
    if agent is None:
        is_default = enabled == _enabled_by_file(server)
        return replace(state, enabled=None if is_default else enabled)
    on = tuple(name for name in state.enabled_for if name != agent)
    off = tuple(name for name in state.disabled_for if name != agent)
    state = replace(state, enabled_for=on, disabled_for=off)
    if (reason_off(replace(server, state=state), agent) is None) == enabled:
        return state
    return replace(state, enabled_for=(*on, agent)) if enabled else replace(state, disabled_for=(*off, agent))


def with_states(servers: Iterable[Server], states: Mapping[str, ServerState]) -> list[Server]:
    """Return the servers, each with the state that is saved for its name."""
    return [_with_state(server, states.get(server.name, NO_STATE)) for server in servers]


def _with_state(server: Server, state: ServerState) -> Server:
    by_file = _enabled_by_file(server)
    if state.enabled is None:
        return replace(server, state=state, enabled=by_file, enabled_by_file=None)
    return replace(server, state=state, enabled=state.enabled, enabled_by_file=by_file)


def _enabled_by_file(server: Server) -> bool:
    return server.enabled if server.enabled_by_file is None else server.enabled_by_file

"""Reads what is saved about the MCP servers of a conversation or of the launcher."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from acp_tui.config import mcp
from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.mcp.sign_in.token_store import sign_in_state, uses_sign_in
from acp_tui.store.folder_trust import FolderTrust
from acp_tui.store.mcp_facts import McpFacts, McpOffers
from acp_tui.store.own_mcp_servers import read_own_servers
from acp_tui.ui.screens.mcp.live_servers import KnownServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.config.mcp import Server, UnsentServer
    from acp_tui.controller import McpServerStatus


def known_servers(
    servers: Sequence[Server], withheld: Sequence[UnsentServer], statuses: Sequence[McpServerStatus]
) -> list[KnownServer]:
    """Return the servers with what is saved about them. Reads files: call it in a thread.

    Args:
        servers: The servers that may be started. Of several with the same name, the last one counts.
        withheld: The servers that may not be started.
        statuses: Which servers were sent to the agent; empty if no session was opened.
    """
    states: dict[str, mcp.ServerState] = {}
    with suppress(UserError):  # reported already when the settings were read
        states = read_own_servers().states
    servers = mcp.with_states(servers, states)
    last = {server.name: server for server in servers}
    sent = {status.name: status for status in statuses if not status.reason_not_sent}
    reasons = {status.name: status.reason_not_sent for status in statuses if status.reason_not_sent}
    found = []
    for server in servers:
        reason = ""
        if server is not last[server.name]:
            reason = f"replaced by the definition in {last[server.name].origin}"
        elif server.name not in sent:
            reason = reasons.get(server.name, "")
        found.append(_known(server, "", reason, sent.get(server.name)))
    others = zip(mcp.with_states([one.server for one in withheld], states), withheld, strict=True)
    return [*found, *(_known(server, unsent.reason, unsent.reason, None) for server, unsent in others)]


def _known(server: Server, withheld: str, not_sent: str, sent: McpServerStatus | None) -> KnownServer:
    changed_at, digest, state = None, server.digest(), paths().state
    with suppress(OSError):
        changed_at = server.file.stat().st_mtime
    signed_in = uses_sign_in(server) and sign_in_state(server.url) is not None
    reason = sent.bridge_reason if sent is not None else mcp.bridge_reason(server, signed_in=signed_in)
    return KnownServer(
        server,
        withheld,
        not_sent,
        reason is not None,
        changed_at,
        _accepted_at(server),
        McpFacts(state).read(server.name, digest),
        signed_in,
        McpOffers(state).read(server.name, digest).accepted_tools,
    )


def _accepted_at(server: Server) -> float | None:
    if server.project is None:
        return None
    consent = FolderTrust(paths().state).folder(server.project).servers.get(server.name)
    return consent.at if consent is not None and consent.digest == server.digest() else None

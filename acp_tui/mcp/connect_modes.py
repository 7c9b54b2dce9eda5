"""The choice between the handshake of older MCP revisions (`initialize`) and the newer `server/discover`.

A stdio server that ignores `server/discover` would delay each start by ten seconds, so `initialize` is tried
first by default. Over streamable HTTP, servers usually reject unknown requests at once, so `server/discover`
is tried first by default.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Literal

from acp_tui.config.paths import paths
from acp_tui.store.mcp.mcp_facts import McpFacts

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer

ConnectMode = Literal["legacy", "auto"]
SLOW_SECONDS = 5.0
"""If connecting in `auto` mode takes longer, an http server probably ignores `server/discover`."""


def connect_modes(server: ResolvedServer) -> list[ConnectMode]:
    """Return the SDK's connect modes for this server, in the order in which to try them."""
    remembered = McpFacts(paths().state).read(server.name, server.digest).mode
    if server.transport == "http":
        return ["legacy", "auto"] if remembered == "legacy" else ["auto"]
    return ["auto"] if remembered == "auto" else ["legacy", "auto"]


def remember_mode(server: ResolvedServer, mode: ConnectMode, *, is_modern: bool, seconds: float) -> None:
    """Save which mode to try first next time, unless the first mode stays the same.

    Args:
        server: The server.
        mode: The mode in which connecting worked.
        is_modern: Whether the negotiated revision has no `initialize`.
        seconds: How long connecting took.
    """
    if not server.digest:
        return
    facts = McpFacts(paths().state)
    best: ConnectMode | None = None
    if server.transport == "http":
        if mode == "auto" and not is_modern and seconds > SLOW_SECONDS:
            best = "legacy"
    elif mode == "auto":
        best = "auto" if is_modern else "legacy"
    if best is not None and facts.read(server.name, server.digest).mode != best:
        with contextlib.suppress(OSError):  # a failure only makes the next start slower
            facts.remember_mode(server.name, server.digest, best)

"""Fields of `acp-tui mcp list` that say when a server was last tested, given to an agent, and used."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.definitions.server_fields import Field
from acp_tui.config.paths import paths
from acp_tui.console.quantities import pluralize
from acp_tui.store.mcp.mcp_facts import McpFacts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.config.mcp import Server
    from acp_tui.store.mcp.mcp_facts import ServerFacts, ServerTest


def fact_fields(server: Server) -> Iterator[Field]:
    """Yield fields that say when the server was last tested, given to an agent, and used, if ever."""
    facts = _facts(server)
    if facts.tested is not None:
        yield Field("tested", f"{_moment(facts.tested.at)}: {_outcome(facts.tested)}")
    if facts.sent is not None:
        session = f", session {facts.sent.session}" if facts.sent.session else ""
        yield Field("given", f"{_moment(facts.sent.at)}: to {facts.sent.agent}{session}")
    if facts.used is not None:
        yield Field("used", f"{_moment(facts.used.at)}: {facts.used.tool}; evidence: {facts.used.evidence}")


def facts_json(server: Server) -> dict[str, Any]:
    """Return the facts about a server as JSON values: its last test, its last agent and its last use.

    `tools_agreed_at` is when the user accepted the server's tools. Values are None for events that are not
    saved.
    """
    facts = _facts(server)
    return {
        "tested": asdict(facts.tested) if facts.tested is not None else None,
        "given": asdict(facts.sent) if facts.sent is not None else None,
        "used": asdict(facts.used) if facts.used is not None else None,
        "tools_agreed_at": facts.agreed.at if facts.agreed is not None else None,
    }


def _facts(server: Server) -> ServerFacts:
    return McpFacts(paths().state).read(server.name, server.digest())


def _outcome(test: ServerTest) -> str:
    if test.status != "connected":
        return f"{test.status}. {test.sentence}"
    counts = (
        f"{pluralize(test.tools, 'tool')}, {pluralize(test.prompts, 'prompt')}, "
        f"{pluralize(test.resources, 'resource')}"
    )
    return f"connected, {counts}"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))

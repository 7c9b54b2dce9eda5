"""`acp-tui mcp enable NAME` and `disable NAME`: turns a server on or off, for one agent or for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import require_known_agent, servers_here
from acp_tui.config.paths import mcp_file
from acp_tui.console import print_json
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import Server


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the server, wherever it is defined")
    parser.add_argument("--agent", metavar="AGENT", help="only for this agent")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Save the new state of the server in `mcp.toml`, and print the effect of the change."""
    from acp_tui.store.own_mcp_servers import switch_server

    here = servers_here()
    server = here.defined(args.name)
    if args.agent is not None:
        require_known_agent(args.agent, here)
    enabled = args.action == "enable"
    switch_server(server, enabled=enabled, agent=args.agent)
    server = servers_here().defined(args.name)
    if args.json:
        answer = {"name": server.name, "state": server.state.to_entry(), "file": str(mcp_file())}
        print_json(answer)
    else:
        print("\n".join(map(escape_line, _sentences(server, args.agent, enabled=enabled))))
    return 0


def _sentences(server: Server, agent: str | None, *, enabled: bool) -> Iterator[str]:
    word, opposite = ("on", "off") if enabled else ("off", "on")
    yield f"{server.name} is {word} for {agent or 'every agent'}, in new sessions."
    if agent is None:
        exceptions = server.state.disabled_for if enabled else server.state.enabled_for
        if exceptions:
            yield f"The server stays {opposite} for {', '.join(exceptions)}."
        if enabled and server.agents is not None:
            whom = ", ".join(server.agents) or "no agent"
            yield f"The definition of the server ({server.origin}) limits it to {whom}."

"""Prints one kind of thing that servers offer, such as their prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_selection import servers_here
from acp_tui.cli.options import FAILED, OK
from acp_tui.console.messages import print_message
from acp_tui.console.streams import print_json
from acp_tui.console.tables import labelled
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from acp_tui.mcp.inspection import Inspection


def print_offers(
    args: argparse.Namespace,
    document: Callable[[Inspection], dict[str, Any]],
    rows: Callable[[Inspection], list[tuple[str, str]]],
) -> int:
    """Print what the server `args.name`, or every enabled server, offers.

    Return 1 if a server cannot be used.

    Args:
        args: The arguments of the action, whose name is `args.action`.
        document: Returns what is printed with `--json`.
        rows: Returns the rows that are printed without `--json`, each a usage and a description.
    """
    import asyncio

    from acp_tui.cli.mcp_client.inspections import enabled_servers, inspect_servers

    here = servers_here(args.mcp_config)
    servers = [here.named(args.name)] if args.name is not None else enabled_servers(here)
    inspected = [each.found for each in asyncio.run(inspect_servers(servers, source=args.action))]
    if args.json:
        print_json({"servers": [{"name": found.name, **document(found)} for found in inspected]})
    for found in inspected:
        if found.failure is not None:
            print_message(found.failure.sentence)
        elif not args.json:
            lines = labelled(rows(found), "    ") or [f"    no {args.action}"]
            print("\n".join([visible_line(found.name), *lines]))
    if not inspected:
        print_message("No MCP server is enabled here.")
    return OK if all(found.failure is None for found in inspected) else FAILED

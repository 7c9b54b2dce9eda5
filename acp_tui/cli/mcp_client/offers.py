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
    lists: tuple[str, ...],
) -> int:
    """Print what the server `args.name`, or every enabled server, offers.

    Return 1 if a server cannot be used, or did not send one of the lists.

    Args:
        args: The arguments of the action, whose name is `args.action`.
        document: Returns what is printed with `--json`.
        rows: Returns the rows that are printed without `--json`, each a usage and a description.
        lists: The lists that the rows come from, as attributes of `Inspection`.
    """
    import asyncio

    from acp_tui.cli.mcp_client.inspections import enabled_servers, inspect_servers

    here = servers_here(args.mcp_config)
    servers = [here.named(args.name)] if args.name is not None else enabled_servers(here)
    inspected = [each.found for each in asyncio.run(inspect_servers(servers, source=args.action))]
    if args.json:
        print_json({"servers": [{"name": found.name, **document(found)} for found in inspected]})
    complete = True
    for found in inspected:
        failures = [found.failed_lists[each] for each in lists if each in found.failed_lists]
        if found.failure is not None:
            failures = [found.failure.sentence]
        lines = labelled(rows(found), "    ")
        if not args.json and (lines or not failures):
            print("\n".join([visible_line(found.name), *(lines or [f"    no {args.action}"])]))
        for sentence in failures:
            print_message(sentence)
        complete = complete and not failures
    if not inspected:
        print_message("No MCP server is enabled here.")
    return OK if complete else FAILED

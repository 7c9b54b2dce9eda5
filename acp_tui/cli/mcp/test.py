"""`acp-tui mcp test`: connects to servers and prints what they offer, or why they cannot be used."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_selection import add_file_option, servers_here, stored_sign_in
from acp_tui.cli.options import FAILED, OK, USAGE
from acp_tui.console.messages import print_message
from acp_tui.console.quantities import pluralize
from acp_tui.console.streams import print_json
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.cli.mcp.server_selection import ServersHere
    from acp_tui.cli.mcp_client.inspections import Inspected


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="the servers")
    parser.add_argument("--all", action="store_true", help="test every server that is enabled")
    parser.add_argument("--accept", action="store_true", help="accept the current tools if they have changed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.epilog = "exit codes: 0 if every server can be used, 1 if one cannot, 2 for wrong arguments"
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Test the servers. Return 1 if one of them cannot be used."""
    if bool(args.names) == args.all:
        raise UserError("Name the servers to test, or use --all.", exit_code=USAGE)
    import asyncio

    from acp_tui.cli.mcp_client.inspection_text import print_inspected
    from acp_tui.cli.mcp_client.inspections import enabled_servers, inspect_servers

    here = servers_here(args.mcp_config)
    servers = (
        [here.named(name) for name in dict.fromkeys(args.names)] if args.names else enabled_servers(here)
    )
    tested = asyncio.run(inspect_servers(servers, source="test", accept=args.accept))
    if args.json:
        print_json({"servers": [_document(each) for each in tested]})
    else:
        for each in tested:
            print_inspected(each, accepted=args.accept, with_details=len(args.names) == 1)
        if args.all:
            _print_untested(here, tested)
    return OK if all(each.found.status == "connected" for each in tested) else FAILED


def _document(tested: Inspected) -> dict[str, Any]:
    signed_in = stored_sign_in(tested.server)
    return tested.found.as_json() | {
        "changes": asdict(tested.tools.changes),
        "newly_accepted": tested.tools.newly_accepted,
        "signed_in": None if signed_in is None else signed_in.as_json(),
    }


def _print_untested(here: ServersHere, tested: list[Inspected]) -> None:
    """Print which servers `--all` leaves out, problems with definition files, and the failure count."""
    names = {each.server.name for each in tested}
    for server in {each.name: each for each in here.servers}.values():
        if server.name not in names:
            print(visible_line(f"{server.name}  disabled"))
    for unsent in here.withheld:
        print(visible_line(f"{unsent.server.name}  not tested: {unsent.reason}"))
    for problem in here.problems:
        print_message(problem)
    failed = [each.server.name for each in tested if each.found.status != "connected"]
    if failed:
        total = pluralize(len(tested), "server")
        print_message(f"{len(failed)} of {total} cannot be used: {', '.join(failed)}.")
    elif not tested:
        print_message("No MCP server is enabled here.")

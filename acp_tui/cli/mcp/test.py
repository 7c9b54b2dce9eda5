"""`acp-tui mcp test`: connects to servers and prints what they offer, or why they cannot be used."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import add_file_option, servers_here
from acp_tui.cli.mcp_client.content_text import print_json
from acp_tui.cli.mcp_client.inspections import enabled_servers, inspect_servers
from acp_tui.cli.options import FAILED, OK, USAGE
from acp_tui.console.alerts import print_alert
from acp_tui.console.messages import print_message
from acp_tui.console.quantities import pluralize
from acp_tui.console.tables import labelled
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.cli.mcp.server_selection import ServersHere
    from acp_tui.cli.mcp_client.inspections import Inspected

MAX_NAMES = 12
"""The names of a kind that are printed; `--json` prints all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="the servers")
    parser.add_argument("--all", action="store_true", help="test every server that is enabled")
    parser.add_argument(
        "--accept", action="store_true", help="agree to the tools as they are now, if they have changed"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")
    parser.epilog = "exit codes: 0 if every server can be used, 1 if one cannot, 2 for wrong arguments"
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Test the servers. Return 1 if one of them cannot be used."""
    if bool(args.names) == args.all:
        raise UserError("Name the servers to test, or use --all.", exit_code=USAGE)
    here = servers_here(args.mcp_config)
    servers = (
        [here.named(name) for name in dict.fromkeys(args.names)] if args.names else enabled_servers(here)
    )
    tested = asyncio.run(inspect_servers(servers, source="test", accept=args.accept))
    if args.json:
        documents = [each.found.as_json() | {"changes": asdict(each.changes)} for each in tested]
        print_json({"servers": documents})
    else:
        for each in tested:
            _print_server(each, accepted=args.accept)
        if args.all:
            _print_untested(here, tested)
    return OK if all(each.found.status == "connected" for each in tested) else FAILED


def _print_server(tested: Inspected, *, accepted: bool) -> None:
    found = tested.found
    print(visible_line(f"{found.name}  {found.status} in {found.seconds:.1f} s"))
    fields = [("failure", found.failure.sentence)] if found.failure is not None else []
    if found.protocol_version:
        fields.append(("server", f"{found.server_version or 'unnamed'}, protocol {found.protocol_version}"))
    lists = {
        "tools": [tool.name for tool in found.tools],
        "prompts": [prompt.name for prompt in found.prompts],
        "resources": [resource.name for resource in found.resources],
        "templates": [template.name for template in found.templates],
    }
    fields += [(kind, f"{len(names)}: {_names(names)}") for kind, names in lists.items() if names]
    changes = tested.changes
    if changes.added:
        fields.append(("added", _names(changes.added)))
    if changes.removed:
        fields.append(("removed", _names(changes.removed)))
    if found.noise:
        fields.append(("noise", f"on stdout, not messages: {found.noise[0]}"))
    fields += [("note", note) for note in found.notes]
    if changes.changed:
        fields.append(("changed", f"{_names(changes.changed)}: not what you agreed to"))
    is_alert = False
    for line in labelled(fields, "    "):
        is_alert = is_alert or line.startswith(
            "    changed"
        )  # also its continuation lines: it is the last one
        if is_alert:
            print_alert(line)
        else:
            print(line)
    if changes:
        _print_change_advice(found.name, accepted=accepted)


def _print_change_advice(name: str, *, accepted: bool) -> None:
    if accepted:
        print("    You agree to the tools as they are now.")
    else:
        print("    The tools differ from those that you agreed to. If you agree to these, run:")
        print(f"    acp-tui mcp test {visible_line(name)} --accept")


def _print_untested(here: ServersHere, tested: list[Inspected]) -> None:
    """Print the servers that `--all` leaves out."""
    names = {each.server.name for each in tested}
    for server in {each.name: each for each in here.servers}.values():
        if server.name not in names:
            print(visible_line(f"{server.name}  disabled"))
    for unsent in here.withheld:
        print(visible_line(f"{unsent.server.name}  not tested: {unsent.reason}"))
    for problem in here.problems:
        print_message(problem)
    failed = sum(each.found.status != "connected" for each in tested)
    if failed:
        print_message(f"{failed} of {pluralize(len(tested), 'server')} cannot be used.")
    elif not tested:
        print_message("No MCP server is enabled here.")


def _names(names: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown}, and {len(names) - MAX_NAMES} more"

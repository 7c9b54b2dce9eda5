"""`acp-tui mcp test`: connects to servers and prints what they offer, or why they cannot be used."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_selection import ServersHere, servers_here, stored_sign_in
from acp_tui.cli.options import FAILED, OK, add_file_option
from acp_tui.console import labelled, pluralize, print_alert, print_json, print_message
from acp_tui.errors import UsageError
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line, escape_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.cli.mcp.inspections import Inspected
    from acp_tui.config.mcp import Server
    from acp_tui.mcp.inspection import Inspection, ToolInfo

MAX_NAMES = 12
"""How many tools, prompts, resources or templates to name. The others are only counted."""
MAX_DESCRIPTION = 200
CHANGED = "its description or schema has changed since you accepted it"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="the servers")
    parser.add_argument("--all", action="store_true", help="test every server that is enabled")
    parser.add_argument("--accept", action="store_true", help="accept the current tools if they have changed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.epilog = "exit codes: 0 if every server can be used, 1 if one cannot, 2 for wrong arguments"
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Test the servers. Return 1 if one of them cannot be used."""
    if bool(args.names) == args.all:
        raise UsageError("Name the servers to test, or use --all.")
    from acp_tui.cli.mcp.inspections import enabled_servers, inspect_servers

    here = servers_here(args.mcp_config)
    servers = (
        [here.named(name) for name in dict.fromkeys(args.names)] if args.names else enabled_servers(here)
    )
    tested = asyncio.run(inspect_servers(servers, source="test", accept=args.accept))
    if args.json:
        print_json({"servers": [_test_as_json(each) for each in tested]})
    else:
        for each in tested:
            print_inspected(each, accepted=args.accept, with_details=len(args.names) == 1)
        if args.all:
            _print_untested(here, tested)
    return OK if all(each.found.status == "connected" for each in tested) else FAILED


def _test_as_json(tested: Inspected) -> dict[str, Any]:
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
            print(escape_line(f"{server.name}  disabled"))
    for unsent in here.withheld:
        print(escape_line(f"{unsent.server.name}  not tested: {unsent.reason}"))
    for problem in here.problems:
        print_message(problem)
    failed = [each.server.name for each in tested if each.found.status != "connected"]
    if failed:
        total = pluralize(len(tested), "server")
        print_message(f"{len(failed)} of {total} cannot be used: {', '.join(failed)}.")
    elif not tested:
        print_message("No MCP server is enabled here.")


def print_inspected(inspected: Inspected, *, accepted: bool, with_details: bool) -> None:
    """Print what a server offers or why it cannot be used, and then how its tools have changed.

    Invisible characters are shown as stand-ins: the user decides whether to accept what is printed.

    Args:
        inspected: The server and the result of its inspection.
        accepted: Whether the user accepts the current tools.
        with_details: Whether to describe the tools, instead of only naming them.
    """
    found, server, changes = inspected.found, inspected.server, inspected.tools.changes
    print(escape_invisible_line(f"{found.name}  {found.status} in {found.seconds:.1f} s"))
    fields = _fields(found)
    excluded = [tool.name for tool in found.tools if not server.allows_tool(tool.name)]
    if excluded:
        fields.append(("excluded", f"not offered to agents: {_names(excluded)}"))
    if (signed_in := stored_sign_in(server)) is not None:
        fields.append(("access", signed_in.describe()))
    if changes.added:
        fields.append(("added", ", ".join(changes.added)))
    if changes.removed:
        fields.append(("removed", ", ".join(changes.removed)))
    fields += [("changed", f"{name}: {CHANGED}") for name in changes.changed]
    is_alert = False
    for line in labelled(_revealed(fields), "    "):
        is_alert = is_alert or line.startswith("    changed")  # the last fields
        if is_alert:
            print_alert(line)
        else:
            print(line)
    if inspected.tools.newly_accepted is not None:
        print(
            f"    {pluralize(inspected.tools.newly_accepted, 'tool')} accepted. Later changes are reported."
        )
    if changes and accepted:
        print("    Saved: the current tools are accepted.")
    elif changes:
        print("    The tools differ from those that you accepted. To accept the current tools, run:")
        print(f"    acp-tui mcp test {escape_invisible_line(shlex.quote(found.name))} --accept")
    if with_details and found.tools:
        print("    tools:")
        tools = [(tool.name, tool_text(tool, server)) for tool in found.tools]
        print("\n".join(labelled(_revealed(tools), "      ")))


def tool_text(tool: ToolInfo, server: Server) -> str:
    """Return the beginning of a tool's description, the server's claims, and whether agents get the tool."""
    text = tool.description.strip().partition("\n\n")[0] or tool.title
    text = text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION]}…"
    claims = f"(The server says: {', '.join(tool.claims)}.)" if tool.claims else ""
    excluded = "" if server.allows_tool(tool.name) else "(Not offered to agents.)"
    return " ".join(filter(None, (text, claims, excluded)))


def _revealed(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(escape_invisible_line(label), escape_invisible(text)) for label, text in rows]


def _fields(found: Inspection) -> list[tuple[str, str]]:
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
    if found.noise:
        more = f", and {pluralize(len(found.noise) - 1, 'more line')}" if found.noise[1:] else ""
        fields.append(("noise", f"on stdout, not an MCP message: {found.noise[0]}{more}"))
    return [*fields, *(("note", note) for note in found.notes)]


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown}, and {len(names) - MAX_NAMES} more"

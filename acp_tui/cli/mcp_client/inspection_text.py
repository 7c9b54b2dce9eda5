"""Prints what a server offers, or why it cannot be used."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import stored_sign_in
from acp_tui.console.alerts import print_alert
from acp_tui.console.quantities import pluralize
from acp_tui.console.tables import labelled
from acp_tui.session.text.invisible import reveal, reveal_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.cli.mcp_client.inspections import Inspected
    from acp_tui.config.mcp import Server
    from acp_tui.mcp.inspection import Inspection, ToolInfo

MAX_NAMES = 12
"""How many tools, prompts, resources or templates to name. The others are only counted."""
MAX_DESCRIPTION = 200
CHANGED = "its description or schema has changed since you accepted it"


def print_inspected(inspected: Inspected, *, accepted: bool, with_details: bool) -> None:
    """Print what a server offers or why it cannot be used, and then how its tools have changed.

    Invisible characters are shown as stand-ins: the user decides whether to accept what is printed.

    Args:
        inspected: The server and the result of its inspection.
        accepted: Whether the user accepts the current tools.
        with_details: Whether to describe the tools, instead of only naming them.
    """
    found, server, changes = inspected.found, inspected.server, inspected.tools.changes
    print(reveal_line(f"{found.name}  {found.status} in {found.seconds:.1f} s"))
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
        print(f"    acp-tui mcp test {reveal_line(shlex.quote(found.name))} --accept")
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
    return [(reveal_line(label), reveal(text)) for label, text in rows]


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

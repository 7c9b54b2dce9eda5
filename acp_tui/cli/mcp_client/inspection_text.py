"""Prints what a server offers, or why it cannot be used."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import stored_sign_in
from acp_tui.console.alerts import print_alert
from acp_tui.console.quantities import pluralize
from acp_tui.console.tables import labelled
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.cli.mcp_client.inspections import Inspected
    from acp_tui.mcp.inspection import Inspection, ToolInfo

MAX_NAMES = 12
"""How many tools, prompts, resources or templates to name. The others are only counted."""
MAX_DESCRIPTION = 200


def print_inspected(inspected: Inspected, *, accepted: bool, with_details: bool) -> None:
    """Print what a server offers or why it cannot be used, and then how its tools have changed.

    Args:
        inspected: The server and the result of its inspection.
        accepted: Whether the user accepts the current tools.
        with_details: Whether to describe the tools, instead of only naming them.
    """
    found, changes = inspected.found, inspected.changes
    print(visible_line(f"{found.name}  {found.status} in {found.seconds:.1f} s"))
    fields = _fields(found)
    if (signed_in := stored_sign_in(inspected.server)) is not None:
        fields.append(("access", signed_in.describe()))
    if changes.added:
        fields.append(("added", ", ".join(changes.added)))
    if changes.removed:
        fields.append(("removed", ", ".join(changes.removed)))
    if changes.changed:
        fields.append(("changed", f"{', '.join(changes.changed)}: changed since you accepted them"))
    is_alert = False
    for line in labelled(fields, "    "):
        is_alert = is_alert or line.startswith(
            "    changed"
        )  # the last field: all lines after it are its continuation lines
        if is_alert:
            print_alert(line)
        else:
            print(line)
    if changes and accepted:
        print("    Saved: the current tools are accepted.")
    elif changes:
        print("    The tools differ from those that you accepted. To accept the current tools, run:")
        print(f"    acp-tui mcp test {visible_line(shlex.quote(found.name))} --accept")
    if with_details and found.tools:
        print("    tools:")
        print("\n".join(labelled([(tool.name, tool_text(tool)) for tool in found.tools], "      ")))


def tool_text(tool: ToolInfo) -> str:
    """Return the beginning of a tool's description, and what the server claims about the tool."""
    text = tool.description.strip().partition("\n\n")[0] or tool.title
    text = text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION]}…"
    claims = f"(The server says: {', '.join(tool.claims)}.)" if tool.claims else ""
    return " ".join(filter(None, (text, claims)))


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
        fields.append(("noise", f"non-MCP lines on stdout: {found.noise[0]}{more}"))
    return [*fields, *(("note", note) for note in found.notes)]


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown}, and {len(names) - MAX_NAMES} more"

"""Saved results of server tests, and comparison of a server's tools with the tools accepted by the user."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths
from acp_tui.session.safe_text import escape_line
from acp_tui.store.mcp_facts import McpFacts, McpOffers, ServerTest, ToolChanges

if TYPE_CHECKING:
    from acp_tui.mcp.inspection import Inspection, ToolInfo


@dataclass(frozen=True, slots=True)
class ToolComparison:
    """How a server's tools differ from those that the user has accepted."""

    changes: ToolChanges
    newly_accepted: int | None = None
    """How many tools were accepted because they are the first that were seen; None if they are not."""


def save_inspection(digest: str, inspection: Inspection, *, accept: bool = False) -> ToolComparison:
    """Save the result of a test, and compare the tools with those that the user has accepted.

    The first list of tools that is seen counts as accepted, because the user has approved the definition.

    Args:
        digest: The digest of the server's definition.
        inspection: The result of the test.
        accept: Save the tools of this test as accepted. The returned differences do not depend on `accept`.
    """
    facts = McpFacts(paths().state)
    test = ServerTest(
        at=inspection.at,
        status=inspection.status,
        sentence=inspection.failure.sentence if inspection.failure is not None else "",
        seconds=inspection.seconds,
        protocol_version=escape_line(inspection.protocol_version),
        server_version=escape_line(inspection.server_version),
        tools=len(inspection.tools),
        prompts=len(inspection.prompts),
        resources=len(inspection.resources),
    )
    known = facts.read(inspection.name, digest)
    is_first = False
    with contextlib.suppress(OSError):  # the caller shows the result in any case
        facts.add_test(inspection.name, digest, test)
        if inspection.status == "connected":
            prompts = [asdict(prompt) for prompt in inspection.prompts]
            resources = [asdict(resource) for resource in inspection.resources]
            McpOffers(paths().state).save_lists(inspection.name, digest, prompts, resources)
        if inspection.lists_tools:
            is_first = accept_first_tools(inspection.name, digest, inspection.tool_digests, inspection.tools)
            if accept and not is_first:
                accept_tools(digest, inspection)
    if not inspection.lists_tools:
        return ToolComparison(ToolChanges())
    changes = ToolChanges() if is_first else known.tool_changes(inspection.tool_digests)
    return ToolComparison(changes, len(inspection.tools) if is_first else None)


def accept_first_tools(name: str, digest: str, digests: dict[str, str], tools: Iterable[ToolInfo]) -> bool:
    """Save that the user accepts a server's tools, unless tools of the server were accepted before.

    Args:
        name: The name of the server.
        digest: The digest of the server's definition.
        digests: The digest of each tool, by name.
        tools: The tools, for showing later how they have changed.

    Return whether the tools were saved. Raises `OSError`.
    """
    facts = McpFacts(paths().state)
    if facts.read(name, digest).accepted is not None:
        return False
    if not facts.accept_first_tools(name, digest, digests):  # another process was faster
        return False
    McpOffers(paths().state).accept(name, digest, {tool.name: tool_parts(tool) for tool in tools})
    return True


def accept_tools(digest: str, inspection: Inspection, only: str | None = None) -> None:
    """Save that the user accepts the inspected tools. Raises `OSError`.

    With `only`, accept just the tool of that name, and keep the tools that were accepted before. If no tools
    were accepted before, `only` has no effect: all tools are accepted.
    """
    state, name = paths().state, inspection.name
    facts, offers = McpFacts(state), McpOffers(state)
    digests, tools = inspection.tool_digests, {tool.name: tool_parts(tool) for tool in inspection.tools}
    accepted = facts.read(name, digest).accepted
    if only is not None and accepted is not None:
        digests = accepted.digests | {only: digests[only]}
        tools = offers.read(name, digest).accepted_tools | {only: tools[only]}
    offers.accept(name, digest, tools)
    facts.accept_tools(name, digest, digests)


def tool_parts(tool: ToolInfo) -> dict[str, Any]:
    """Return, as a JSON object, what the digest of a tool covers."""
    return {
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }

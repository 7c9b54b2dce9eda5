"""Saves the result of a test, and compares the tools with those that the user agreed to."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths
from acp_tui.session.text import visible_line
from acp_tui.store.mcp_facts import McpFacts, ServerTest, ToolChanges
from acp_tui.store.mcp_offers import McpOffers

if TYPE_CHECKING:
    from acp_tui.mcp.inspection import Inspection, ToolInfo


def save_inspection(digest: str, found: Inspection, *, accept: bool = False) -> ToolChanges:
    """Save a test, and return how the tools differ from those the user agreed to.

    The tools of the first successful test count as agreed: the user has agreed to the server's definition.

    Args:
        digest: That of the definition.
        found: The result of the test.
        accept: From now on, the tools of this test count as agreed. The changes before are returned.
    """
    facts = McpFacts(paths().state)
    test = ServerTest(
        at=found.at,
        status=found.status,
        sentence=found.failure.sentence if found.failure is not None else "",
        seconds=found.seconds,
        protocol_version=visible_line(found.protocol_version),
        server_version=visible_line(found.server_version),
        tools=len(found.tools),
        prompts=len(found.prompts),
        resources=len(found.resources),
    )
    known = facts.read(found.name, digest)
    with contextlib.suppress(OSError):  # the result is shown in any case
        facts.add_test(found.name, digest, test)
        if found.status == "connected":
            lists = ([asdict(one) for one in listed] for listed in (found.prompts, found.resources))
            McpOffers(paths().state).save_lists(found.name, digest, *lists)
            if accept or known.agreed is None:
                agree_to_tools(digest, found)
    return known.tool_changes(found.tool_digests) if found.status == "connected" else ToolChanges()


def agree_to_tools(digest: str, found: Inspection, only: str | None = None) -> None:
    """Save that the user agrees to the tools as they are now, or to `only` one of them. Raises `OSError`."""
    state, name = paths().state, found.name
    facts, offers = McpFacts(state), McpOffers(state)
    digests, tools = found.tool_digests, {tool.name: tool_parts(tool) for tool in found.tools}
    agreed = facts.read(name, digest).agreed
    if only is not None and agreed is not None:
        digests = agreed.digests | {only: digests[only]}
        tools = offers.read(name, digest).agreed_tools | {only: tools[only]}
    offers.agree(name, digest, tools)
    facts.agree_to_tools(name, digest, digests)


def tool_parts(tool: ToolInfo) -> dict[str, Any]:
    """Return the parts of a tool that the agent and the user are told, as a JSON object."""
    return {
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }

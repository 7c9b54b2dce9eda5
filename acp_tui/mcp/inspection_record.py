"""Saves the result of a test, and compares the tools with those that the user agreed to."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.session.text import visible_line
from acp_tui.store.mcp_facts import McpFacts, ServerTest, ToolChanges

if TYPE_CHECKING:
    from acp_tui.mcp.inspection import Inspection


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
        if found.status == "connected" and (accept or known.agreed is None):
            facts.agree_to_tools(found.name, digest, found.tool_digests)
    return known.tool_changes(found.tool_digests) if found.status == "connected" else ToolChanges()

"""Draws a call of one of acp-tui's own tools. The call looks like a tool call of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.entries.tool_call import tool_call

if TYPE_CHECKING:
    from acp_tui.session.state import OwnToolCall
    from acp_tui.ui.drawing.body import Body, DrawContext


def body(entry: OwnToolCall, context: DrawContext) -> Body:
    """Draw a call of one of acp-tui's own tools."""
    return tool_call.body(entry.call, context)

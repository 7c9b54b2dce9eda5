"""Draws a message of the agent as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.entries.message.message_parts import MessageParts
from acp_tui.ui.markdown import scanner

if TYPE_CHECKING:
    from acp_tui.session.state import AgentMessage, Message
    from acp_tui.ui.drawing.body import Body, DrawContext

INDENT = "  "


def body(entry: AgentMessage, context: DrawContext) -> Body:
    """Draw a message: its text, and content such as images and files."""
    return MessageParts(entry, context, [Segment(INDENT, context.palette.text)])


def code_blocks(message: Message) -> list[str]:
    """Return the source of each code block in a message."""
    return scanner.code_blocks(message.text)

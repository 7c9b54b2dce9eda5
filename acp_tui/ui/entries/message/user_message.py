"""Draws a prompt of the user as plain text.

Also has functions that return a prompt's text and attachments, so that the user can send the prompt again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.segment import Segment

from acp_tui.session.state import Content
from acp_tui.session.text.growing_text import GrowingText
from acp_tui.ui.entries.message.message_parts import MessageParts

if TYPE_CHECKING:
    from acp_tui.session.state import UserMessage
    from acp_tui.ui.drawing.body import Body, DrawContext


def body(entry: UserMessage, context: DrawContext) -> Body:
    """Draw a prompt: its text beside a vertical bar, and its attachments."""
    palette = context.palette
    own = replace(context, palette=replace(palette, text=palette.user))
    return MessageParts(entry, own, [Segment("┃ ", palette.user_bar)], plain=True)


def prompt_text(entry: UserMessage) -> str:
    """Return the text of a prompt, without its attachments."""
    return next((str(part) for part in entry.parts if isinstance(part, GrowingText)), "")


def attachment_blocks(entry: UserMessage) -> list[dict[str, Any]]:
    """Return the attachments of a prompt as content blocks of the Agent Client Protocol."""
    return [
        {
            "type": part.kind,
            "uri": part.uri,
            "data": part.data,
            "mimeType": part.mime,
            "resource": {"uri": part.uri, "text": part.text},
        }
        for part in entry.parts
        if isinstance(part, Content)
    ]

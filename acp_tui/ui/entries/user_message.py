"""A prompt of the user, drawn as plain text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.entries.message_parts import MessageParts

if TYPE_CHECKING:
    from acp_tui.session.state import UserMessage
    from acp_tui.ui.drawing.body import Body, DrawContext


def body(entry: UserMessage, context: DrawContext) -> Body:
    """Draw the text beside a bar, and its attachments."""
    palette = context.palette
    own = replace(context, palette=replace(palette, text=palette.user))
    return MessageParts(entry, own, [Segment("┃ ", palette.user_bar)], plain=True)

"""What the agent said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.ui.widgets.transcript.bodies.parts import Parts

if TYPE_CHECKING:
    from acp_tui.session.state import AgentMessage
    from acp_tui.ui.widgets.transcript.body import Body, Context

INDENT = "  "


def body(entry: AgentMessage, context: Context) -> Body:
    """Markdown, and what came with it."""
    return Parts(entry, context, [Segment(INDENT, context.palette.text)])


def code_blocks(drawn: Body) -> list[str]:
    """The code in an entry, block by block; none in one that is not made of Markdown."""
    return drawn.code_blocks() if isinstance(drawn, Parts) else []

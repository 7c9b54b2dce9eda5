"""The items of the "calls" tab: the calls of a server's tools."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import STATUS_ICONS, format_duration, format_time
from acp_tui.session.state import McpCall, ToolCall
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.panes.item_builders import RIGHT_MARGIN, justified_line
from acp_tui.ui.panes.pane_list import PaneItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.strip import Strip

    from acp_tui.session.state import Session
    from acp_tui.ui.theme.palette import Palette


@dataclass(frozen=True, slots=True)
class ListedCall:
    """A call of a tool, made or relayed by acp-tui, or a call that only the agent reports."""

    key: str
    call: McpCall | ToolCall

    @property
    def at(self) -> float:
        """When the call ended. For a call that only the agent reports: when it began."""
        return self.call.at

    @property
    def tool(self) -> str:
        """The name of the tool."""
        if isinstance(self.call, McpCall):
            return self.call.tool
        return self.call.mcp_tool.name if self.call.mcp_tool is not None else ""

    @property
    def status(self) -> str:
        """The status, in the words of ACP tool calls, such as "completed"."""
        if isinstance(self.call, McpCall):
            return "failed" if self.call.failed else "completed"
        return self.call.status

    @property
    def source(self) -> str:
        """Who made the call: "you" or "agent".

        If only the agent reports the call, the field that names the tool is added, as in "agent (by title)".
        """
        if isinstance(self.call, McpCall):
            return "you" if self.call.by == "you" else "agent"
        source = self.call.mcp_tool.source if self.call.mcp_tool is not None else ""
        return f"agent (by {source})"


def listed_calls(server: str, session: Session, named: Sequence[ToolCall]) -> list[ListedCall]:
    """Return the calls to a server's tools, newest first.

    `named` are the agent's tool calls that name one of these tools. They are omitted if acp-tui relayed
    calls from the agent to this server, because acp-tui has recorded those calls itself.
    """
    carried = [call for call in session.mcp_calls if call.server == server]
    found = [ListedCall(f"carried {at}", call) for at, call in enumerate(carried)]
    if not any(call.by == "agent" for call in carried):
        found += [ListedCall(f"entry {call.id}", call) for call in named]
    return sorted(found, key=lambda one: one.at, reverse=True)


def call_items(calls: Sequence[ListedCall], palette: Palette) -> list[PaneItem]:
    """Return an item for each call."""
    return [PaneItem(lambda width, one=one: [_row(one, palette, width)], one.key) for one in calls]  # type: ignore[misc]


def _row(one: ListedCall, palette: Palette, width: int) -> Strip:
    sign = STATUS_ICONS.get(one.status, "·")
    lead = [
        Segment(f"{format_time(one.at, time.time())}  ", palette.dim),
        Segment(f"{sign} ", palette.signs.get(one.status, palette.dim)),
    ]
    facts = one.source
    if isinstance(one.call, McpCall) and one.call.seconds >= 0.05:
        facts += f"  {format_duration(one.call.seconds)}"
    right = [Segment(f"  {facts}", palette.dim)]
    room = width - RIGHT_MARGIN - sum(span.cell_length for span in (*lead, *right))
    name = shorten(reveal_line(one.tool), max(8, room))
    return justified_line([*lead, Segment(name, palette.text)], right, width)

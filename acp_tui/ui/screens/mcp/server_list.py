"""The list of the MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message

from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.panes.item_builders import RIGHT_MARGIN, heading_item, justified_line, text_item
from acp_tui.ui.panes.pane_list import PaneItem, PaneList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events
    from textual.strip import Strip

    from acp_tui.ui.screens.mcp.mcp_context import KnownServer
    from acp_tui.ui.screens.mcp.server_facts import Fact, FactState
    from acp_tui.ui.theme.palette import Palette

MARKS: dict[FactState, str] = {"yes": "●", "no": "○", "problem": "✘", "unknown": "·"}
"""The mark for each state of a fact. The list shows a server's five facts as a row of marks."""

TOOLS_CHANGED = "tools changed"
"""Shown instead of "connected" if tools differ from those that the user accepted."""


def mark_style(state: FactState, palette: Palette) -> Style:
    """Return the style of a fact's mark."""
    styles = {"yes": palette.success, "problem": palette.error, "no": palette.warning}
    return styles.get(state, palette.dim)


class ServerList(PaneList, inherit_bindings=False):
    """Lists the servers, each with its status and one mark per `Fact`. The screen handles the keys."""

    MARKED_WITHOUT_FOCUS: ClassVar = True

    class Chosen(Message):
        """The user clicked in the list. Another server may be chosen now."""

    def show_servers(self, rows: Sequence[tuple[KnownServer, str, Sequence[Fact]]], *, loaded: bool) -> None:
        """Show servers, each with its status and facts. `loaded` is false before the first read."""
        items = [heading_item("Servers", self.palette, f"{len(rows):,}", first=True)]
        items += [self._item(*row) for row in rows]
        if loaded and not rows:
            items.append(text_item("No servers. Add one with `acp-tui mcp add`.", self.palette.dim))
        self.show(items)

    def _item(self, known: KnownServer, status: str, facts: Sequence[Fact]) -> PaneItem:
        return PaneItem(lambda width: self._rows(known, status, facts, width), known.key, height=2)

    def _rows(self, known: KnownServer, status: str, facts: Sequence[Fact], width: int) -> list[Strip]:
        palette, server = self.palette, known.server
        room = width - RIGHT_MARGIN
        way = "bridge" if known.is_bridged else server.transport
        name = shorten(reveal_line(server.name), room - cell_len(way) - 1)
        style = palette.text if known.can_start else palette.dim
        marks = [Segment(MARKS[fact.state], mark_style(fact.state, palette)) for fact in facts]
        status_room = room - len(marks) - 1
        left = [Segment(shorten(status, status_room), self._status_style(status))]
        return [
            justified_line([Segment(name, style)], [Segment(way, palette.faint)], width),
            justified_line(left, marks, width),
        ]

    def _status_style(self, status: str) -> Style:
        palette = self.palette
        styles = {
            "connected": palette.success,
            "connecting": palette.accent,
            "failed": palette.error,
            "needs sign-in": palette.warning,
            TOOLS_CHANGED: palette.warning,
        }
        return styles.get(status, palette.dim)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Choose the server under the mouse."""
        super().on_mouse_down(event)
        self.post_message(self.Chosen())

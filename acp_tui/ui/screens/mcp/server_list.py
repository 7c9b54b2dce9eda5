"""The list of the MCP servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message

from acp_tui.console import pluralize
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.session.state import Session, ToolCall
from acp_tui.text_format import display_path, format_duration
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.panes.pane_list import (
    RIGHT_MARGIN,
    PaneItem,
    PaneList,
    heading_item,
    justified_line,
    text_item,
)
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events
    from textual.strip import Strip

    from acp_tui.store.mcp_facts import ServerFacts
    from acp_tui.ui.screens.mcp.live_servers import KnownServer, McpContext


MARKS: dict[FactState, str] = {"yes": "●", "no": "○", "problem": "✘", "unknown": "·"}
"""The mark for each state of a fact. The list shows a server's five facts as a row of marks."""
TOOLS_CHANGED = "tools changed"
"""Shown instead of "connected" if tools differ from those that the user accepted."""
FactState = Literal["yes", "no", "problem", "unknown"]
SOURCES = {"name": "the agent's name for the tool", "title": "the agent's title for the call"}
"""Descriptions of the two fields of a tool call in which the agent can name the MCP tool."""


class ServerList(PaneList, inherit_bindings=False):
    """Lists the servers, each with its status and one mark per `Fact`. The screen handles the keys."""

    MARKED_WITHOUT_FOCUS: ClassVar = True

    class Chosen(Message):
        """The user clicked in the list. Another server may be chosen now."""

    def show_servers(self, rows: Sequence[tuple[KnownServer, str, Sequence[Fact]]], *, loaded: bool) -> None:
        """Show servers, each with its status and facts. `loaded` is false before the first read."""
        items = [heading_item("Servers", f"{len(rows):,}", first=True)]
        items += [self._item(*row) for row in rows]
        if loaded and not rows:
            items.append(text_item("No servers. Add one with `acp-tui mcp add`.", current_palette().dim))
        self.show(items)

    def _item(self, known: KnownServer, status: str, facts: Sequence[Fact]) -> PaneItem:
        return PaneItem(lambda width: self._rows(known, status, facts, width), known.key, height=2)

    def _rows(self, known: KnownServer, status: str, facts: Sequence[Fact], width: int) -> list[Strip]:
        palette, server = current_palette(), known.server
        room = width - RIGHT_MARGIN
        way = "bridge" if known.is_bridged else server.transport
        name = shorten(escape_invisible_line(server.name), room - cell_len(way) - 1)
        style = palette.text if known.can_start else palette.dim
        marks = [Segment(MARKS[fact.state], mark_style(fact.state)) for fact in facts]
        status_room = room - len(marks) - 1
        left = [Segment(shorten(status, status_room), self._status_style(status))]
        return [
            justified_line([Segment(name, style)], [Segment(way, palette.faint)], width),
            justified_line(left, marks, width),
        ]

    def _status_style(self, status: str) -> Style:
        palette = current_palette()
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


def mark_style(state: FactState) -> Style:
    """Return the style of a fact's mark."""
    palette = current_palette()
    styles = {"yes": palette.success, "problem": palette.error, "no": palette.warning}
    return styles.get(state, palette.dim)


@dataclass(frozen=True, slots=True)
class Fact:
    """One of the five facts about a server, with the evidence for the fact."""

    label: str
    state: FactState
    evidence: str
    at: float | None = None  # seconds since the epoch
    is_path: bool = False  # the evidence is only a path


def server_facts(known: KnownServer, context: McpContext, named: Sequence[ToolCall]) -> list[Fact]:
    """Return the five facts about a server, always in the same order.

    `named` are the agent's tool calls that name a tool of the server.
    """
    return [
        _configured(known),
        _trusted(known),
        _tested(known),
        _sent(known, context),
        _used(known.server.name, context.session, known.saved, named),
    ]


def _configured(known: KnownServer) -> Fact:
    server, origin = known.server, display_path(known.server.origin)
    if server.problems:
        return Fact("configured", "problem", f"{origin}: {'; '.join(server.problems)}", known.file_changed_at)
    return Fact("configured", "yes", origin, known.file_changed_at, is_path=True)


def _trusted(known: KnownServer) -> Fact:
    server = known.server
    if server.project is None:
        return Fact("trusted", "yes", "your own settings")
    if known.withheld:
        return Fact("trusted", "no", known.withheld, known.accepted_at)
    return Fact("trusted", "yes", f"you approved the definition {server.digest()[:8]}", known.accepted_at)


def _tested(known: KnownServer) -> Fact:
    test = known.saved.tested
    if test is None:
        return Fact("tested", "unknown", "not tested by acp-tui")
    if test.status != "connected":
        return Fact("tested", "problem", test.sentence or test.status, test.at)
    version = f"{test.server_version}, " if test.server_version else ""
    offers = f"{pluralize(test.tools, 'tool')}, {pluralize(test.prompts, 'prompt')}"
    words = f"{version}{offers}, {pluralize(test.resources, 'resource')} in {format_duration(test.seconds)}"
    return Fact("tested", "yes", words, test.at)


def _sent(known: KnownServer, context: McpContext) -> Fact:
    name, session = known.server.name, context.session
    if known.not_sent:
        return Fact("sent", "no", known.not_sent)
    if name in session.mcp_servers:
        at = sent.at if (sent := known.saved.sent) is not None else None
        session_id = session.session_id or "still opening"
        way = " through the bridge" if known.is_bridged else ""
        return Fact(
            "sent", "yes", escape_invisible_line(f"to {context.agent}{way}, session {session_id}"), at
        )
    if (sent := known.saved.sent) is not None:
        earlier = escape_invisible_line(f"to {sent.agent}, earlier session {sent.session}")
        return Fact("sent", "yes", earlier, sent.at)
    return Fact("sent", "unknown", "to no agent yet")


def _used(name: str, session: Session, saved: ServerFacts, named: Sequence[ToolCall]) -> Fact:
    carried = [call for call in session.mcp_calls if call.server == name and call.by == "agent"]
    if carried:
        last = carried[-1]
        calls = pluralize(len(carried), "call")
        words = f"{calls} through the bridge, last call: {escape_invisible_line(last.tool)}"
        return Fact("used", "yes", words, last.at)
    if named:
        last_call = named[-1]
        tool = last_call.mcp_tool
        assert tool is not None
        calls = pluralize(len(named), "call")
        words = f"{calls}, last call: {escape_invisible_line(tool.name)}; evidence: {SOURCES[tool.source]}"
        return Fact("used", "yes", words, last_call.at)
    if (used := saved.used) is not None:
        name, evidence = escape_invisible_line(used.tool), escape_invisible_line(used.evidence)
        words = f"in an earlier session, last call: {name}; evidence: {evidence}"
        return Fact("used", "yes", words, used.at)
    return Fact("used", "unknown", "no call seen yet")


def calls_by_server(session: Session) -> dict[str, list[ToolCall]]:
    """Return the agent's tool calls that name an MCP tool, by server name. The oldest call comes first."""
    found: dict[str, list[ToolCall]] = {}
    for entry in session.entries if session.mcp_servers else ():
        if isinstance(entry, ToolCall) and entry.mcp_tool is not None:
            found.setdefault(entry.mcp_tool.server, []).append(entry)
    return found

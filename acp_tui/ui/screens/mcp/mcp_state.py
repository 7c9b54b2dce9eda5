"""What the MCP screen shows: the servers, the chosen server, and the items of its tabs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.console import pluralize
from acp_tui.entry_labels import STATUS_ICONS
from acp_tui.session.safe_text import escape_invisible_line, escape_line, visible_excerpt
from acp_tui.session.state import McpCall, Session, ToolCall
from acp_tui.store.mcp_facts import ToolChanges
from acp_tui.text_format import format_duration, format_time
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.panes.pane_list import RIGHT_MARGIN, PaneItem, justified_line, text_item
from acp_tui.ui.screens.mcp.server_list import TOOLS_CHANGED, Fact, calls_by_server, server_facts
from acp_tui.ui.theme.palette import Spans, current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.mcp.inspection import Inspection
    from acp_tui.ui.screens.mcp.live_servers import KnownServer, LiveServers, McpContext


MAX_RECORDS = 200
"""The maximum number of records shown, counted from the newest."""
MAX_CHARACTERS = 1000
MAX_ARGUMENTS = 200
_KIND_TEXTS = {"ended": "connection ended", "connected": "connected", "changed": "its lists changed"}
MIN_NAME_CELLS = 12
TabName = Literal["tools", "prompts", "resources", "calls", "log"]
TABS: tuple[TabName, ...] = ("tools", "prompts", "resources", "calls", "log")


class McpState:
    """Holds the servers and what the user chose; makes the texts and items that the MCP screen shows."""

    def __init__(
        self, context: McpContext, live: LiveServers, name: str | None, key_of: Callable[[str], str]
    ) -> None:
        """`name` is the server to choose first; `key_of` returns the key of an action such as "mcp.test"."""
        self._context = context
        self._live = live
        self._first = name
        self._key_of = key_of
        self.servers: Sequence[KnownServer] = ()
        self.loaded = False
        self.key: str | None = None
        """The key of the chosen server."""
        self.tab = 0
        """The index of the chosen tab."""
        self.filter = ""
        """The words that the shown tools, prompts and resources must contain."""
        self.log: Sequence[dict[str, Any]] = ()
        """The last records in the log of the chosen server."""
        self._named: Mapping[
            str, Sequence[ToolCall]
        ] = {}  # calls that name a tool of a server, by the server's name

    def use_servers(self, servers: Sequence[KnownServer]) -> None:
        """Replace the servers. The chosen server stays chosen if it still exists."""
        self.servers, self.loaded = servers, True
        keys = [known.key for known in servers]
        if self.key not in keys:
            named = (known.key for known in servers if known.server.name == self._first)
            self.key = next(named, keys[0] if keys else None)

    def refresh(self) -> None:
        """Update the tool calls of each server from the session."""
        self._named = calls_by_server(self._context.session)

    @property
    def chosen(self) -> KnownServer | None:
        """The chosen server."""
        return next((known for known in self.servers if known.key == self.key), None)

    @property
    def tab_name(self) -> TabName:
        """The name of the chosen tab."""
        return TABS[self.tab]

    def rows(self) -> list[tuple[KnownServer, str, Sequence[Fact]]]:
        """Return the servers, each with its status and its facts."""
        return [(known, self._row_status(known), self.facts(known)) for known in self.servers]

    def _row_status(self, known: KnownServer) -> str:
        status = self._live.status(known)
        return TOOLS_CHANGED if status == "connected" and self.tool_changes(known) else status

    def facts(self, known: KnownServer) -> list[Fact]:
        """Return the facts about a server: configured, trusted, tested, sent to the agent, seen in use."""
        facts = server_facts(known, self._context, self._named.get(known.server.name, ()))
        test = known.saved.tested
        if test is None or test.status != "needs sign-in":
            return facts
        hint = self._sign_in_hint(known)  # the saved sentence names a command of the command line
        return [replace(fact, evidence=hint) if fact.label == "tested" else fact for fact in facts]

    def _sign_in_hint(self, known: KnownServer) -> str:
        name = escape_invisible_line(known.server.name)
        return f"{name} requires sign-in: press {self._key_of('mcp.sign_in')} to sign in."

    # ------------------------------------------------------------------------- the top lines

    def head(self) -> tuple[Spans, Spans]:
        """Return the left and the right part of the top line."""
        palette = current_palette()
        statuses = [self._live.status(known) for known in self.servers]
        connected = statuses.count("connected")
        agent = f" · {escape_invisible_line(self._context.agent)}" if self._context.agent else ""
        left = [Segment("MCP servers", palette.strong), Segment(agent, palette.dim)]
        return left, [Segment(f"  {connected:,} of {len(statuses):,} connected", palette.dim)]

    def title(self) -> tuple[Spans, Spans]:
        """Return the left and the right part of the line above the facts."""
        palette = current_palette()
        known = self.chosen
        if known is None:
            return [], []
        left = [Segment(escape_invisible_line(known.server.name), palette.strong)]
        live = self._live.get(known)
        status = self._live.status(known)
        right = [Segment(f"  {status}", palette.dim)]
        if live.inspection is not None and live.status == "connected":
            version = escape_invisible_line(live.inspection.protocol_version or "")
            accepted = ""
            if live.newly_accepted is not None:
                accepted = f" · {pluralize(live.newly_accepted, 'tool')} accepted"
            right = [Segment(f"  {status} · MCP {version}{accepted}", palette.dim)]
        return left, right

    def tab_titles(self) -> list[str]:
        """Return the titles of the tabs, with the number of items if it is known."""
        known = self.chosen
        inspection = self._live.get(known).inspection if known is not None else None
        counts: dict[TabName, int] = {}
        if known is not None:
            counts["calls"] = len(self.calls(known))
        if inspection is not None:
            counts["tools"], counts["prompts"] = len(inspection.tools), len(inspection.prompts)
            counts["resources"] = len(inspection.resources) + len(inspection.templates)
        return [f"{name} {counts[name]:,}" if name in counts else name for name in TABS]

    # ------------------------------------------------------------------------- the tab

    def items(self) -> list[PaneItem]:
        """Return the items of the chosen tab."""
        known = self.chosen
        if known is None:
            return []
        found = self._items(known)
        return found or [text_item(self._empty_text(known), current_palette().dim)]

    def _items(self, known: KnownServer) -> list[PaneItem]:
        inspection = self._filtered(self._live.get(known).inspection)
        match self.tab_name:
            case "calls":
                return call_items(self.calls(known))
            case "log":
                return log_items(self.log)
            case "tools" if inspection is not None:
                notes = [
                    text_item(escape_invisible_line(note), current_palette().warning)
                    for note in inspection.notes
                ]
                tools = tool_items(inspection, self.tool_changes(known), known.server.allows_tool)
                return [*notes, *tools]
            case "prompts" if inspection is not None:
                return [*prompt_items(inspection)]
            case "resources" if inspection is not None:
                return [*resource_items(inspection)]
        return []

    @property
    def can_filter(self) -> bool:
        """Whether the chosen tab has items that can be filtered."""
        known = self.chosen
        inspection = self._live.get(known).inspection if known is not None else None
        return inspection is not None and self.tab_name in ("tools", "prompts", "resources")

    def _filtered(self, inspection: Inspection | None) -> Inspection | None:
        """Return the inspection with only those items that contain all words of the filter."""
        words = self.filter.casefold().split()
        if inspection is None or not words:
            return inspection

        def matches(*texts: str) -> bool:
            text = " ".join(texts).casefold()
            return all(word in text for word in words)

        return replace(
            inspection,
            notes=[],
            tools=[one for one in inspection.tools if matches(one.name, one.title, one.description)],
            prompts=[one for one in inspection.prompts if matches(one.name, one.title, one.description)],
            resources=[
                one for one in inspection.resources if matches(one.name, one.title, one.uri, one.description)
            ],
            templates=[
                one
                for one in inspection.templates
                if matches(one.name, one.title, one.uri_template, one.description)
            ],
        )

    def tool_changes(self, known: KnownServer) -> ToolChanges:
        """Return how the tools of a connected server differ from those that the user accepted."""
        inspection = self._live.get(known).inspection
        if inspection is None or not inspection.lists_tools:
            return ToolChanges()
        return known.saved.tool_changes(inspection.tool_digests)

    def calls(self, known: KnownServer) -> list[ListedCall]:
        """Return the calls of a server's tools in this session, the newest first."""
        name = known.server.name
        return listed_calls(name, self._context.session, self._named.get(name, ()))

    def _empty_text(self, known: KnownServer) -> str:
        """Return why the chosen tab is empty, or how to fill it."""
        live, status = self._live.get(known), self._live.status(known)
        if self.tab_name == "calls":
            return "No calls to this server's tools in this session."
        if self.tab_name == "log":
            return "The log is empty."
        if status == "disabled":
            return "The server is disabled." if not known.withheld else f"Not used: {known.withheld}."
        if status == "connecting":
            return escape_invisible_line(live.note) or "Connecting …"
        if live.inspection is not None and self.filter.strip():
            return f"No {self.tab_name} contain all these words."
        if live.inspection is not None:
            failed = live.inspection.failed_lists.get(self.tab_name)
            return escape_invisible_line(failed) if failed else f"The server offers no {self.tab_name}."
        if live.status == "needs sign-in":
            return self._sign_in_hint(known)
        again = f"Press {self._key_of('mcp.test')} to connect again."
        if (test := known.saved.tested) is not None and test.sentence == live.note and live.note:
            return again  # the facts show the sentence
        if live.note:
            return f"{escape_invisible_line(live.note)} {again}"
        return f"Press {self._key_of('mcp.test')} to connect to the server and list its {self.tab_name}."


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


def call_items(calls: Sequence[ListedCall]) -> list[PaneItem]:
    """Return an item for each call."""
    return [PaneItem(lambda width, one=one: [_row(one, width)], one.key) for one in calls]  # type: ignore[misc]


def _row(one: ListedCall, width: int) -> Strip:
    palette = current_palette()
    sign = STATUS_ICONS.get(one.status, "·")
    lead = [
        Segment(f"{format_time(one.at, time.time())}  ", palette.dim),
        Segment(f"{sign} ", palette.signs.get(one.status, palette.dim)),
    ]
    facts = one.source
    if isinstance(one.call, McpCall) and one.call.seconds >= 0.05:
        facts += f"  {format_duration(one.call.seconds)}"
    right = [Segment(f"  {facts}", palette.dim)]
    room = width - RIGHT_MARGIN - Segment.get_line_length([*lead, *right])
    name = shorten(escape_invisible_line(one.tool), max(8, room))
    return justified_line([*lead, Segment(name, palette.text)], right, width)


def log_items(records: Sequence[Mapping[str, Any]]) -> list[PaneItem]:
    """Return the items for the newest `MAX_RECORDS` records, the newest first."""
    return [_log_item(record) for record in reversed(records[-MAX_RECORDS:])]


def _log_item(record: Mapping[str, Any]) -> PaneItem:
    palette = current_palette()
    at, kind = record.get("at"), escape_line(str(record.get("kind", "")))
    when = format_time(at, time.time()) if isinstance(at, int | float) else ""
    style = _style(record)

    def draw(width: int) -> list[Strip]:
        lead = [Segment(f"{when:<6}", palette.dim), Segment(f"{kind:<10}", palette.dim)]
        lines = wrap([Segment(_text(record), style)], max(8, width - 16 - RIGHT_MARGIN))
        follow = [Segment(" " * 16)]
        return [make_strip(line, follow if number else lead) for number, line in enumerate(lines)]

    return PaneItem(draw, height=None)


def _text(record: Mapping[str, Any]) -> str:
    """Return the text to show for a record: the record's own text, or text made from the other values."""
    text = record.get("line", record.get("sentence"))
    if isinstance(text, str):
        return escape_line(text)[:MAX_CHARACTERS]
    if record.get("kind") == "call":
        arguments = visible_excerpt(record.get("arguments") or {}, MAX_ARGUMENTS)
        outcome = record.get("failure") or visible_excerpt(record.get("result"), MAX_CHARACTERS)
        return escape_line(f"{record.get('tool')} {arguments} → {outcome}")
    values = {key: value for key, value in record.items() if key not in ("at", "kind", "source")}
    if not values:
        return _KIND_TEXTS.get(str(record.get("kind")), "")
    return visible_excerpt(values, MAX_CHARACTERS)


def _style(record: Mapping[str, Any]) -> Style:
    palette = current_palette()
    if record.get("kind") == "failed" or record.get("level") in ("error", "critical", "alert", "emergency"):
        return palette.error
    return palette.warning if record.get("kind") == "stdout" else palette.text


def tool_items(
    inspection: Inspection, changes: ToolChanges, is_offered: Callable[[str], bool]
) -> Iterator[PaneItem]:
    """Yield an item for each tool. Mark tools that are new or have changed since the user accepted the tools.

    `is_offered` returns whether agents are offered the tool with this name.
    """
    palette = current_palette()
    if any(tool.claims for tool in inspection.tools):
        yield text_item('Claims of the server, such as "only reads", are not verified.', palette.faint)
    for tool in inspection.tools:
        change = ""
        if tool.name in changes.changed:
            change = "changed since you accepted it"
        elif tool.name in changes.added:
            change = "new, not accepted yet"
        excluded = [] if is_offered(tool.name) else ["not offered to agents"]
        right = change or ", ".join([*tool.claims, *excluded])
        style = palette.error if change else palette.text
        note_style = palette.error if change else palette.dim
        yield _offer_item(
            tool.name,
            tool.name,
            right,
            tool.description or tool.title,
            (style, note_style),
        )
    if changes.removed:
        names = escape_invisible_line(", ".join(changes.removed))
        yield text_item(f"Removed since you accepted the tools: {names}", palette.error)


def prompt_items(inspection: Inspection) -> Iterator[PaneItem]:
    """Yield an item for each prompt."""
    palette = current_palette()
    styles = (palette.text, palette.dim)
    for prompt in inspection.prompts:
        names = " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments)
        yield _offer_item(
            prompt.name,
            prompt.name,
            names,
            prompt.description or prompt.title,
            styles,
        )


def resource_items(inspection: Inspection) -> Iterator[PaneItem]:
    """Yield an item for each resource, then one for each resource template. Templates cannot be chosen."""
    palette = current_palette()
    styles = (palette.text, palette.dim)
    for resource in inspection.resources:
        about = f"{resource.uri}  {resource.description or resource.title}"
        yield _offer_item(resource.uri, resource.name, resource.mime_type, about, styles)
    for template in inspection.templates:
        about = f"{template.uri_template}  {template.description or template.title}"
        yield _offer_item(None, template.name, "template", about, styles)


def _offer_item(key: str | None, name: str, right: str, about: str, styles: tuple[Style, Style]) -> PaneItem:
    """Return an item with a name, a remark at the right edge, and a description in a second line."""

    def draw(width: int) -> list[Strip]:
        room = width - RIGHT_MARGIN
        remark = shorten(escape_invisible_line(right), max(0, room - MIN_NAME_CELLS - 2))
        name_room = room - cell_len(remark) - 2
        end = [Segment(remark, styles[1])]
        first = justified_line(
            [Segment(shorten(escape_invisible_line(name), name_room), styles[0])], end, width
        )
        if not about.strip():
            return [first]
        text = shorten(escape_invisible_line(" ".join(about.split())), room - 2)
        return [first, make_strip([Segment(f"  {text}", current_palette().dim)])]

    return PaneItem(draw, key, height=2 if about.strip() else 1)

"""What the MCP screen shows: the servers, the chosen server, and the items of its tabs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from rich.segment import Segment

from acp_tui.console.quantities import pluralize
from acp_tui.session.text.invisible import reveal_line
from acp_tui.store.mcp.mcp_facts import ToolChanges
from acp_tui.ui.panes.item_builders import text_item
from acp_tui.ui.screens.mcp.server_facts import calls_by_server, server_facts
from acp_tui.ui.screens.mcp.server_list import TOOLS_CHANGED
from acp_tui.ui.screens.mcp.tabs.call_items import call_items, listed_calls
from acp_tui.ui.screens.mcp.tabs.log_items import log_items
from acp_tui.ui.screens.mcp.tabs.offer_items import prompt_items, resource_items, tool_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acp_tui.mcp.inspection import Inspection
    from acp_tui.session.state import ToolCall
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.panes.pane_list import PaneItem
    from acp_tui.ui.screens.mcp.live_servers import LiveServers
    from acp_tui.ui.screens.mcp.mcp_context import KnownServer, McpContext
    from acp_tui.ui.screens.mcp.server_facts import Fact
    from acp_tui.ui.screens.mcp.tabs.call_items import ListedCall
    from acp_tui.ui.theme.palette import Palette

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
        name = reveal_line(known.server.name)
        return f"{name} requires sign-in: press {self._key_of('mcp.sign_in')} to sign in."

    # ------------------------------------------------------------------------- the top lines

    def head(self, palette: Palette) -> tuple[Spans, Spans]:
        """Return the left and the right part of the top line."""
        statuses = [self._live.status(known) for known in self.servers]
        connected = statuses.count("connected")
        agent = f" · {reveal_line(self._context.agent)}" if self._context.agent else ""
        left = [Segment("MCP servers", palette.strong), Segment(agent, palette.dim)]
        return left, [Segment(f"  {connected:,} of {len(statuses):,} connected", palette.dim)]

    def title(self, palette: Palette) -> tuple[Spans, Spans]:
        """Return the left and the right part of the line above the facts."""
        known = self.chosen
        if known is None:
            return [], []
        left = [Segment(reveal_line(known.server.name), palette.strong)]
        live = self._live.get(known)
        status = self._live.status(known)
        right = [Segment(f"  {status}", palette.dim)]
        if live.inspection is not None and live.status == "connected":
            version = reveal_line(live.inspection.protocol_version or "")
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

    def items(self, palette: Palette) -> list[PaneItem]:
        """Return the items of the chosen tab."""
        known = self.chosen
        if known is None:
            return []
        found = self._items(known, palette)
        return found or [text_item(self._empty_text(known), palette.dim)]

    def _items(self, known: KnownServer, palette: Palette) -> list[PaneItem]:
        inspection = self._filtered(self._live.get(known).inspection)
        match self.tab_name:
            case "calls":
                return call_items(self.calls(known), palette)
            case "log":
                return log_items(self.log, palette)
            case "tools" if inspection is not None:
                notes = [text_item(reveal_line(note), palette.warning) for note in inspection.notes]
                tools = tool_items(inspection, self.tool_changes(known), known.server.allows_tool, palette)
                return [*notes, *tools]
            case "prompts" if inspection is not None:
                return [*prompt_items(inspection, palette)]
            case "resources" if inspection is not None:
                return [*resource_items(inspection, palette)]
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
            return reveal_line(live.note) or "Connecting …"
        if live.inspection is not None and self.filter.strip():
            return f"No {self.tab_name} contain all these words."
        if live.inspection is not None:
            failed = live.inspection.failed_lists.get(self.tab_name)
            return reveal_line(failed) if failed else f"The server offers no {self.tab_name}."
        if live.status == "needs sign-in":
            return self._sign_in_hint(known)
        again = f"Press {self._key_of('mcp.test')} to connect again."
        if (test := known.saved.tested) is not None and test.sentence == live.note and live.note:
            return again  # the facts show the sentence
        if live.note:
            return f"{reveal_line(live.note)} {again}"
        return f"Press {self._key_of('mcp.test')} to connect to the server and list its {self.tab_name}."

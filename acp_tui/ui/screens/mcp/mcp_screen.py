"""The screen of the MCP servers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.config.paths import paths
from acp_tui.console import pluralize
from acp_tui.store.mcp_log import McpLog
from acp_tui.text_format import format_time
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.drawing.wrap import make_strip, shorten, shorten_path, wrap
from acp_tui.ui.panes.pane_list import PaneList
from acp_tui.ui.screens.mcp.actions import ItemActions, ServerActions
from acp_tui.ui.screens.mcp.mcp_state import TABS, McpState
from acp_tui.ui.screens.mcp.server_dialogs import ElicitationDialogs
from acp_tui.ui.screens.mcp.server_list import MARKS, Fact, ServerList, mark_style
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.coalescing_worker import CoalescingWorker
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.geometry import Size

    from acp_tui.errors import UserError
    from acp_tui.ui.screens.mcp.live_servers import McpContext


LABEL_CELLS = 13
"""The width of the column with a fact's mark and label."""
MIN_TEXT_CELLS = 16
MIN_ROWS_TO_WRAP = 30
"""In a terminal with fewer rows, each fact is shortened to one line, except for problems."""
MIN_LIST_CELLS, MAX_LIST_CELLS = 26, 40


class FactLines(Widget):
    """A block of facts, each with its mark, evidence and time. Its height depends on how the texts wrap."""

    DEFAULT_CSS = """
    FactLines { height: auto; max-height: 50%; background: transparent; color: $foreground; }
    """
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._facts: Sequence[Fact] = ()
        self._lines: list[Strip] = []
        self._width = 0
        self._short = False

    def show(self, facts: Sequence[Fact]) -> None:
        """Replace the facts. See `MIN_ROWS_TO_WRAP` for when they are wrapped."""
        self._facts = facts
        self._short = self.app.size.height < MIN_ROWS_TO_WRAP
        self._width = 0
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return len(self._draw(width))

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self._draw(width)
        line = lines[y] if y < len(lines) else Strip([])
        return line.crop_extend(0, width, base).apply_style(base)

    def _draw(self, width: int) -> list[Strip]:
        if width != self._width:
            self._width = width
            self._lines = [line for fact in self._facts for line in self._fact_lines(fact, width)]
        return self._lines

    def _fact_lines(self, fact: Fact, width: int) -> list[Strip]:
        palette = current_palette()
        when = f"  {format_time(fact.at, time.time())}" if fact.at is not None else ""
        room = max(MIN_TEXT_CELLS, width - LABEL_CELLS - cell_len(when))
        label = fact.label[: LABEL_CELLS - 3].ljust(LABEL_CELLS - 2)
        lead = [
            Segment(f"{MARKS[fact.state]} ", mark_style(fact.state)),
            Segment(label, palette.dim),
        ]
        style = palette.error if fact.state == "problem" else palette.text
        text = fact.evidence
        if fact.is_path:
            text = shorten_path(text, room)
        elif self._short and fact.state != "problem":
            text = shorten(text, room)
        lines = wrap([Segment(text, style)], room)
        strips = [make_strip(lines[0], lead)] if lines else [Strip(lead)]
        if when:
            gap = width - strips[0].cell_length - cell_len(when)
            strips[0] = Strip([*strips[0], Segment(" " * max(0, gap)), Segment(when, palette.dim)])
        return strips + [make_strip(line, [Segment(" " * LABEL_CELLS)]) for line in lines[1:]]


class TabBar(Widget):
    """The titles of the tabs, with the current tab marked."""

    DEFAULT_CSS = """
    TabBar { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class Clicked(Message):
        """The user clicked the tab with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__()
        self._titles: Sequence[str] = ()
        self._current = 0

    def show(self, titles: Sequence[str], current: int) -> None:
        """Set the titles and the index of the current tab."""
        self._titles, self._current = titles, current
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        palette, width, base = current_palette(), self.size.width, self.rich_style
        tabs = [
            Segment(
                f" {title} ",
                (palette.selected if at == self._current else palette.dim) + Style.from_meta({"tab": at}),
            )
            for at, title in enumerate(self._titles)
        ]
        return Strip(tabs).crop_extend(0, width, base).apply_style(base)

    def on_click(self, event: events.Click) -> None:
        """Report the clicked tab."""
        event.stop()
        if (tab := event.style.meta.get("tab")) is not None:
            self.post_message(self.Clicked(tab))


class OfferList(PaneList, inherit_bindings=False):
    """The list of what the chosen tab contains. The screen handles the keys."""


class McpScreen(Dialog[None]):
    """The servers on the left; on the right the facts about the chosen server, and what it offers.

    The screen connects to a server only when the user tests the server or signs in. The connections outlive
    the screen.
    """

    CSS = """
    McpScreen { background: $background; layout: vertical; }
    McpScreen Bar { padding: 0 1; }
    McpScreen #head { background: $surface; }
    McpScreen ServerList { background: $surface; padding: 1 0 0 0; height: 1fr; }
    McpScreen #page { width: 1fr; }
    McpScreen #title { margin: 1 0 0 1; }
    McpScreen FactLines { margin: 0 1 0 2; }
    McpScreen TabBar { margin: 1 1 0 2; }
    McpScreen OfferList { height: 1fr; margin: 0 0 0 1; }
    McpScreen #filter { display: none; margin: 0 1 0 3; }
    """
    BINDINGS: ClassVar = keys.bindings("mcp")
    AUTO_FOCUS = "ServerList"

    def __init__(self, context: McpContext, first: str | None = None) -> None:
        """`first` is the name of the server to show first."""
        super().__init__()
        self.context = context
        self._questions = ElicitationDialogs(self)
        self.live = context.live
        self.state = McpState(context, self.live, first, partial(keys.bound_keys, self))
        parts = (self, context, self.state, self.reload, self.show_error)
        self.actions, self.item_actions = ServerActions(*parts), ItemActions(*parts)
        self._loading = CoalescingWorker(self, self._load, self.show_error)

    def compose(self) -> ComposeResult:
        yield Bar([], id="head")
        with Horizontal():
            yield ServerList()
            with Vertical(id="page"):
                yield Bar([], id="title")
                yield FactLines()
                yield TabBar()
                yield InputLine(placeholder="type to filter", id="filter")
                yield OfferList()
        yield KeyBar()

    def on_mount(self) -> None:
        """Draw the screen and read the servers."""
        self._questions.use_mode(self.app.current_mode)
        self.live.show_on(self._update_live, self._questions.ask)
        self._fit()
        self.update()
        self.reload()

    def on_unmount(self) -> None:
        """Keep the connections, and say so."""
        self.live.hide()
        if connected := self.live.connected:
            self.app.notify(f"{pluralize(connected, 'MCP server')} still connected.", timeout=4)

    def on_resize(self) -> None:
        """Set the width of the list of servers."""
        self._fit()

    def _fit(self) -> None:
        width = max(MIN_LIST_CELLS, min(MAX_LIST_CELLS, self.app.size.width // 3))
        self.query_one(ServerList).styles.width = width

    def apply_theme(self) -> None:
        self.update()

    @property
    def servers(self) -> ServerList:
        """The list on the left."""
        return self.query_one(ServerList)

    @property
    def offers(self) -> OfferList:
        """The list of the chosen tab."""
        return self.query_one(OfferList)

    @property
    def filter_line(self) -> InputLine:
        """The filter of the chosen tab. It is hidden while there is no filter."""
        return self.query_one("#filter", InputLine)

    @property
    def in_tab(self) -> bool:
        """Whether the focus is in the tab or its filter, not in the list of servers."""
        return self.focused is self.offers or self.focused is self.filter_line

    @property
    def _item(self) -> str | None:
        """The key of the chosen item of the tab; None if there is none or the focus is not in the tab."""
        return self.offers.chosen if self.in_tab else None

    # ------------------------------------------------------------------------- what is shown

    def reload(self) -> None:
        """Schedule another read of the servers, the facts saved about them, and the log."""
        self._loading.request()

    async def _load(self) -> None:
        self.state.use_servers(await asyncio.to_thread(self.context.load_servers))
        known = self.state.chosen
        if known is not None and self.state.tab_name == "log":
            log = McpLog(paths().state, known.server.name, str(known.server.file))
            self.state.log = await asyncio.to_thread(log.read)
        self.update()

    def _update_live(self) -> None:
        """Show that a connection has changed, and schedule another read of the saved facts."""
        if self.is_attached:
            self.update()
            self.reload()

    def update(self) -> None:
        """Show the current state of the servers."""
        if not self.is_attached or not self.query(OfferList):
            return  # the screen is not composed yet, or already closed
        state = self.state
        state.refresh()
        self.servers.show_servers(state.rows(), loaded=state.loaded)
        if state.key is not None:
            self.servers.choose(state.key)
        self.query_one("#head", Bar).show(*state.head())
        self.query_one("#title", Bar).show(*state.title())
        known = state.chosen
        self.query_one(FactLines).show(state.facts(known) if known is not None else [])
        self.query_one(TabBar).show(state.tab_titles(), state.tab)
        self.offers.show(state.items())
        self.refresh_bindings()

    def show_error(self, error: UserError) -> None:
        """Show an error in a toast."""
        self.notify(str(error), severity="error", timeout=10, markup=False)

    # ------------------------------------------------------------------------- moving

    @on(ServerList.Chosen)
    def _choose_server(self) -> None:
        if self.servers.chosen != self.state.key:
            self.state.key = self.servers.chosen
            self.state.log = ()
            self._clear_filter()
            self.update()
            self.offers.scroll_home(animate=False)
            if self.state.tab_name == "log":
                self.reload()

    def action_move(self, step: int) -> None:
        """Choose the next (1) or previous (-1) server or item."""
        if self.in_tab:
            self.offers.move(step)
            self.refresh_bindings()
        else:
            self.servers.move(step)
            self._choose_server()

    def action_page(self, step: int) -> None:
        """Scroll the tab by a page."""
        self.offers.page(step)

    def action_end(self, step: int) -> None:
        """Choose the first (-1) or last (1) server or item; if there are none, scroll the focused list."""
        if self.in_tab:
            self.offers.choose_end(step)
            self.refresh_bindings()
        else:
            self.servers.choose_end(step)
            self._choose_server()

    def action_switch(self) -> None:
        """Move the focus from the servers to the tab, or back."""
        self.set_focus(self.servers if self.in_tab else self.offers)
        self.refresh_bindings()

    def action_turn(self, step: int) -> None:
        """Show the next (1) or previous (-1) tab."""
        self._show_tab((self.state.tab + step) % len(TABS))

    def action_tab(self, number: int) -> None:
        """Show a tab by its number, from 1."""
        self._show_tab(number - 1)

    @on(TabBar.Clicked)
    def _tab_clicked(self, event: TabBar.Clicked) -> None:
        self._show_tab(event.index)

    def _show_tab(self, index: int) -> None:
        self.state.tab = index
        self._clear_filter()
        self.update()
        self.offers.scroll_home(animate=False)
        self.set_focus(self.offers)
        if self.state.tab_name == "log":
            self.reload()

    # ------------------------------------------------------------------------- keys

    def action_filter(self) -> None:
        """Show the filter of the tab, and move the focus to it."""
        self.filter_line.styles.display = "block"
        self.set_focus(self.filter_line)

    @on(InputLine.Changed, "#filter")
    def _filter(self, event: InputLine.Changed) -> None:
        self.state.filter = event.value
        self.update()
        self.offers.scroll_home(animate=False)

    def _clear_filter(self) -> None:
        self.filter_line.value = self.state.filter = ""
        self.filter_line.styles.display = "none"

    def action_back(self) -> None:
        """Remove the filter; without one, move the focus from the tab to the servers; from there, close."""
        if self.in_tab and (self.state.filter or self.focused is self.filter_line):
            self._clear_filter()
            self.update()
            self.set_focus(self.offers)
        elif self.in_tab:
            self.action_switch()
        else:
            self.action_close()

    def action_open(self) -> None:
        """Move the focus from the servers to the tab. In the tab, use or show the chosen item."""
        if self.focused is self.filter_line:
            self.set_focus(self.offers)
        elif self.in_tab:
            self.item_actions.open(self._item)
        else:
            self.action_switch()

    def action_view(self) -> None:
        """Show the chosen item in full or, with the focus on the servers, the chosen server."""
        self.item_actions.view(self._item)

    def action_test(self) -> None:
        """Connect to the chosen server and list what it offers."""
        self.actions.test()

    def action_test_all(self) -> None:
        """Connect to all servers that may be started."""
        self.actions.test_all()

    def action_stop(self) -> None:
        """Disconnect from the chosen server, or stop connecting."""
        self.actions.disconnect()

    def action_enable(self) -> None:
        """Turn the chosen server on or off for new sessions."""
        self.run_worker(self.actions.switch(), group="change")

    def action_connection(self) -> None:
        """Switch the chosen server between a direct connection and the bridge."""
        self.run_worker(self.actions.choose_connection(), group="change")

    def action_sign_in(self) -> None:
        """Sign in to the chosen server."""
        self.actions.sign_in()

    def action_sign_out(self) -> None:
        """Sign out of the chosen server."""
        self.run_worker(self.actions.sign_out(), group="sign out")

    def action_edit(self) -> None:
        """Open the file that defines the chosen server, in the editor."""
        self.actions.edit_definition()

    def action_changes(self) -> None:
        """Show what has changed in the chosen tool since the user accepted it."""
        self.item_actions.show_changes(self._item)

    def action_accept(self) -> None:
        """Accept the chosen tool as it is now or, if the focus is on the servers, all tools of the server."""
        self.run_worker(self.item_actions.accept(self._item), group="accept")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action has an effect now. The footer omits keys without effect."""
        if not self.is_attached or not self.query(OfferList):
            return False
        if action == "filter":
            return self.focused is self.offers and self.state.can_filter
        enabled = self.actions.is_enabled(action)
        if enabled is None:
            enabled = self.item_actions.is_enabled(action, self._item, in_tab=self.in_tab)
        return enabled if enabled is not None else super().check_action(action, parameters)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        if self.focused is self.filter_line:
            return {"mcp.open": "to the list", "mcp.back": "remove filter"}.get(key_id)
        if key_id == "mcp.back" and self.in_tab:
            return "back"
        return self.actions.label_of(key_id) or self.item_actions.label_of(key_id, in_tab=self.in_tab)

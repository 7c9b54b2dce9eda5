"""The screen that lists all tabs and what their conversations are doing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from acp_tui.session.safe_text import escape_line
from acp_tui.session.usage_text import context_share, format_money, short_count
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.dialogs.rename_dialog import RenameDialog
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.tabs.tab_strip import SIGNS, Mark, Tab
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.select_list import SelectList, SelectRow
from acp_tui.ui.widgets.status_line import format_clock

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.dialogs.base_screen import ConversationFacts
    from acp_tui.ui.tabs.tabs import Tabs


MAX_ACTIVITY = 40
STYLES: dict[Mark, str] = {
    "": "dim",
    "starting": "warning",
    "working": "success",
    "asking": "warning",
    "done": "accent",
    "dead": "error",
}
"""The names of the `Palette` fields with which the marks are drawn."""
_WORDS: dict[Mark, str] = {
    "": "idle",
    "starting": "starting",
    "working": "working",
    "asking": "asks you",
    "done": "done",
    "dead": "ended",
}


def overview_row(tab: Tab, number: int, facts: ConversationFacts | None, now: float) -> SelectRow:
    """Return the row of a tab. `facts` is None for a screen without a conversation."""
    palette = current_palette()
    mark = tab.mark
    style = getattr(palette, STYLES[mark])
    lead = [Segment(f"{number:>2} ", palette.dim), Segment(f"{SIGNS.get(mark, '○')} ", style)]
    unread = [Segment(f"  +{tab.unread}", palette.dim)] if tab.unread else []
    tail = [Segment(_since(mark, facts, now), style)]
    return SelectRow(
        lead, [Segment(tab.state.label, palette.strong), *unread], _note(tab, facts), tail, cut=True
    )


def _since(mark: Mark, facts: ConversationFacts | None, now: float) -> str:
    since = facts.status.since if facts is not None else None
    return _WORDS[mark] if since is None else f"{_WORDS[mark]} {format_clock(now - since)}"


def _note(tab: Tab, facts: ConversationFacts | None) -> Spans:
    """Return what the agent is doing, then less important facts, which are the first to be cut off."""
    palette = current_palette()
    activity = tab.state.question or (facts.activity if facts is not None else "")
    words = shorten(escape_line(" ".join(activity.split())), MAX_ACTIVITY)
    text = " · ".join(_tab_facts(tab, facts))
    spans = [Segment(f"{words} · " if text else words, palette.text)] if words else []
    return [*spans, Segment(text, palette.dim)]


def _tab_facts(tab: Tab, facts: ConversationFacts | None) -> Iterator[str]:
    if facts is None:
        if tab.state.session:
            yield tab.state.agent
            yield "starts when you open it"
        return
    status = facts.status
    yield from filter(None, (status.agent, status.project, status.branch))
    if facts.changed_files:
        yield f"{facts.changed_files} file{'' if facts.changed_files == 1 else 's'} changed"
    if status.used is not None:
        share = context_share(status.used, status.size)
        yield f"ctx {short_count(status.used)}" if share is None else f"ctx {share:.0%}"
    if status.cost is not None:
        yield format_money(status.cost, status.currency)


REFRESH_SECONDS = 0.5


class OverviewScreen(Dialog["Tab"]):
    """Lists the tabs, and returns the chosen one. The list is updated while the screen is open."""

    CSS = """
    OverviewScreen { background: $background; layout: vertical; }
    OverviewScreen #head { padding: 0 1; background: $surface; }
    OverviewScreen SelectList { height: 1fr; margin: 1 1 0 1; }
    """
    BINDINGS: ClassVar = keys.bindings("overview")
    AUTO_FOCUS = ""

    def __init__(self, tabs: Tabs, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._tabs = tabs
        self._clock = clock
        self._shown: list[Tab] = []

    def compose(self) -> ComposeResult:
        """Create the widgets from top to bottom."""
        yield Bar(self._head(), id="head")
        yield SelectList([])
        yield KeyBar()

    def on_mount(self) -> None:
        """Select the current tab, and keep the list up to date."""
        self._update()
        self.query_one(SelectList).selected = next(
            (index for index, tab in enumerate(self._shown) if tab is self._tabs.current), 0
        )
        self.set_interval(REFRESH_SECONDS, self._update)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._update()

    def _head(self) -> list[Segment]:
        palette = current_palette()
        marks = [tab.mark for tab in self._tabs]
        working, asking = marks.count("working"), marks.count("asking")
        words = [f"{len(self._tabs)} open", f"{working} working", f"{asking} waiting for you"]
        return [
            Segment("Overview", palette.strong),
            Segment(f"  {' · '.join(words)}", palette.dim),
        ]

    def _update(self) -> None:
        rows, now = self.query_one(SelectList), self._clock()
        selected = self._selected
        self._shown = list(self._tabs)
        rows.show(
            [
                overview_row(tab, number, tab.screen.conversation_facts(), now)
                for number, tab in enumerate(self._shown, 1)
            ],
            self._shown.index(selected) if selected in self._shown else 0,
        )
        self.query_one("#head", Bar).show(self._head())

    @property
    def _selected(self) -> Tab | None:
        index = self.query_one(SelectList).selected
        return self._shown[index] if 0 <= index < len(self._shown) else None

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Go to the clicked tab."""
        self.dismiss(self._shown[event.index])

    def action_move(self, step: int) -> None:
        """Move the selection."""
        self.query_one(SelectList).move(step)

    def action_open(self) -> None:
        """Go to the selected tab."""
        self.dismiss(self._selected)

    def action_wire_selected(self) -> None:
        """Show the messages of the selected conversation, without opening its tab."""
        from acp_tui.ui.screens.wire.wire_screen import open_log

        if (tab := self._selected) is not None:
            open_log(self.app, tab.screen.wire_log, tab.state.label)

    def action_close_selected(self) -> None:
        """Close the selected tab."""
        if (tab := self._selected) is not None:
            self.app.run_worker(self._tabs.close_tab(tab))

    def action_rename_selected(self) -> None:
        """Rename the selected tab."""
        tab = self._selected
        if tab is None or not tab.screen.can_be_renamed:
            self.app.bell()
            return
        screen = tab.screen
        dialog = RenameDialog(tab.state.name, tab.state.title or tab.state.agent)
        self.app.push_screen(dialog, lambda name: None if name is None else screen.rename(name))

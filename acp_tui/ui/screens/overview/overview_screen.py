"""The screen that lists all tabs and what their conversations are doing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from acp_tui.ui import keys
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.screens.overview.overview_rows import overview_row
from acp_tui.ui.tabs.rename_dialog import RenameDialog
from acp_tui.ui.widgets.bar import Bar
from acp_tui.ui.widgets.key_bar import KeyBar
from acp_tui.ui.widgets.select_list import SelectList

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from acp_tui.ui.tabs.tab import Tab
    from acp_tui.ui.tabs.tabs import Tabs
    from acp_tui.ui.theme.palette import Palette

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

    def __init__(self, tabs: Tabs, palette: Palette, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._tabs = tabs
        self._palette = palette
        self._clock = clock
        self._shown: list[Tab] = []

    def compose(self) -> ComposeResult:
        """Create the widgets from top to bottom."""
        yield Bar(self._head(), id="head")
        yield SelectList([], self._palette)
        yield KeyBar()

    def on_mount(self) -> None:
        """Select the current tab, and keep the list up to date."""
        self._update()
        self.query_one(SelectList).selected = next(
            (index for index, tab in enumerate(self._shown) if tab is self._tabs.current), 0
        )
        self.set_interval(REFRESH_SECONDS, self._update)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one(SelectList).use_palette(palette)
        self._update()

    def _head(self) -> list[Segment]:
        marks = [tab.mark for tab in self._tabs]
        working, asking = marks.count("working"), marks.count("asking")
        words = [f"{len(self._tabs)} open", f"{working} working", f"{asking} waiting for you"]
        return [
            Segment("Overview", self._palette.strong),
            Segment(f"  {' · '.join(words)}", self._palette.dim),
        ]

    def _update(self) -> None:
        rows, now = self.query_one(SelectList), self._clock()
        selected = self._selected
        self._shown = list(self._tabs)
        rows.show(
            [
                overview_row(tab, number, tab.screen.conversation_facts(), now, self._palette)
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
        dialog = RenameDialog(tab.state.name, tab.state.title or tab.state.agent, self._palette)
        self.app.push_screen(dialog, lambda name: None if name is None else screen.rename(name))

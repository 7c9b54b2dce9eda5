"""Pictures of the row of tabs and of the overview."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from textual.app import App

from acp_tui.ui.dialogs.base_screen import BaseScreen, ConversationFacts, TabState
from acp_tui.ui.tabs.overview import OverviewScreen
from acp_tui.ui.tabs.tab_strip import StripTab, TabStrip
from acp_tui.ui.tabs.tabs import Tabs
from acp_tui.ui.widgets.status_line import StatusFacts
from tests.support.looks import Show, look

if TYPE_CHECKING:
    from acp_tui.ui.dialogs.base_screen import Activity

NOW = 1000.0


class Conversation(BaseScreen):
    """The screen of a conversation with fixed facts."""

    def __init__(self, state: TabState, facts: ConversationFacts | None) -> None:
        super().__init__()
        self.tab_state = state
        self._facts = facts

    def conversation_facts(self) -> ConversationFacts | None:
        """Return the fixed facts."""
        return self._facts


def overview() -> OverviewScreen:
    """Return the overview of four conversations."""
    tabs = Tabs(App(), None)
    status = StatusFacts("Claude Code", project="shop", branch="main", used=84_000, size=200_000, cost=0.42)

    def add(title: str, phase: Activity, since: float, question: str = "", **more: Any) -> None:
        state = TabState("Claude Code", title, "", phase, question, 12)
        facts = ConversationFacts(replace(status, phase=phase, since=NOW - since), **more)
        tabs.add_first(Conversation(state, facts))
        list(tabs)[-1].update(state, NOW, in_front=title == "Fix the basket total")

    add("Fix the basket total", "working", 75, activity="Run the tests", changed_files=3)
    add("Rename the API", "asking", 8, "Run `git push --force`", changed_files=12)
    add("A very long title that says in detail what the conversation is about", "idle", 4000)
    add("Try the other model", "dead", 20)
    tabs.add_first(Conversation(TabState("Codex", "Docs", session="stored"), None))
    return OverviewScreen(tabs, clock=lambda: NOW)


@look
def test_looks_of_the_overview(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(Show(theme, screen=cast("Any", overview)), terminal_size=size)


TABS = [
    StripTab("Fix the basket total", "working", 3),
    StripTab("Rename the API", "asking", 14),
    StripTab("Docs"),
    StripTab("Try the other model", "dead"),
    StripTab("Release notes", "done", 2),
    *(StripTab(f"Conversation {number}") for number in range(6, 21)),
]


@look
@pytest.mark.parametrize(("count", "current"), [(5, 0), (20, 12)])
def test_looks_of_the_row_of_tabs(
    snap_compare: Any, theme: str, size: tuple[int, int], count: int, current: int
) -> None:
    app = Show(theme, widgets=lambda: [TabStrip(TABS[:count], current)])
    assert snap_compare(app, terminal_size=(size[0], 3))

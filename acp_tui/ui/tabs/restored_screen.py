"""The placeholder in a tab restored from an earlier run, until the user first shows the tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.screens.base import BaseScreen
from acp_tui.ui.tabs.tab_state import TabState

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.store.open_tabs import SavedTab
    from acp_tui.ui.theme.palette import Palette


class RestoredScreen(BaseScreen):
    """A placeholder for the screen of a conversation. The agent is started when the tab is first shown."""

    is_placeholder = True

    def __init__(self, palette: Palette, saved: SavedTab, make: Callable[[Palette], BaseScreen]) -> None:
        """`make` creates the screen of the conversation."""
        super().__init__(palette)
        self._saved = saved
        self._make = make
        agent, title = visible_line(saved.agent), visible_line(saved.title)
        self.tab_state = TabState(agent, title, session=saved.session)

    def on_mount(self) -> None:
        """Replace this screen with the screen of the conversation."""
        screen = self._make(self.palette)
        screen.tab_state = self.tab_state
        self.post_message(self.SwitchRequested(self, screen))

    def shows_session(self, session: str) -> bool:
        """Return True if the conversation is recorded under the id `session`."""
        return self._saved.session == session

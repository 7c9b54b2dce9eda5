"""Quitting while agents work, or while tabs have something to ask."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from acp_tui.ui import keys

if TYPE_CHECKING:
    from textual.app import App

    from acp_tui.ui.tabs.tab import Tab
    from acp_tui.ui.tabs.tabs import Tabs

QUIT_CONFIRM_SECONDS = 3.0
"""Seconds within which a second Ctrl+Q quits although the agent is working."""


class QuitGuard:
    """Ends the app at the user's request. If necessary, the user has to confirm the request first."""

    def __init__(self, app: App[Any], tabs: Tabs) -> None:
        self._app = app
        self._tabs = tabs
        self._requested_at = -QUIT_CONFIRM_SECONDS
        self._agreed: list[Tab] = []  # to be closed, if the others may be closed as well

    def request(self) -> None:
        """Quit. While an agent works, quitting takes two requests within `QUIT_CONFIRM_SECONDS`.

        If a tab is already asking the user something before it closes, show that question instead.
        """
        asking = [tab for tab in self._tabs if tab.is_closing and tab.screen.asks_before_close]
        if asking:
            self._tabs.show(asking[0])
            return
        self.withdraw()
        now, working = time.monotonic(), len(self._tabs.working())
        if not working or now - self._requested_at < QUIT_CONFIRM_SECONDS:
            if any(tab.screen.asks_before_close for tab in self._tabs):
                self._app.run_worker(self._ask_and_quit(), group="quit", exclusive=True)
            else:
                self._app.exit()
            return
        self._requested_at = now
        key = keys.bound_keys(self._app, "app.quit")
        several = "1 agent is" if working == 1 else f"{working} agents are"
        who = several if len(self._tabs) > 1 else "The agent is"
        sentence = f"{who} still working. Press {key} again to quit."
        self._app.notify(sentence, timeout=QUIT_CONFIRM_SECONDS, markup=False)

    async def _ask_and_quit(self) -> None:
        """Ask the user the questions that must be answered before the tabs are closed, then quit.

        Do not quit if the user cancels a question.
        """
        for tab in [tab for tab in self._tabs if tab.screen.asks_before_close]:
            if not await self._tabs.may_close(tab):
                self.withdraw()
                return
            self._agreed.append(tab)
        self._agreed.clear()
        self._app.exit()

    def withdraw(self) -> None:
        """Cancel quitting: keep open all tabs whose closing the user has already confirmed."""
        for tab in self._agreed:
            tab.screen.stay_open()
        self._agreed.clear()

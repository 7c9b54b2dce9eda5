"""One tab: a base screen, and what the user has missed there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from acp_tui.ui.dialogs.base_screen import BUSY

if TYPE_CHECKING:
    from acp_tui.ui.dialogs.base_screen import BaseScreen, TabState

Mark = Literal["", "starting", "working", "asking", "done", "dead"]
"""The state that the tab strip marks. "done": a turn has ended and the user has not looked yet."""


class Tab:
    """A screen in its own Textual mode, and the changes since the user last looked at the screen."""

    def __init__(self, mode: str, screen: BaseScreen) -> None:
        self.mode = mode
        self.screen = screen
        screen.mode = mode
        self.finished_at: float | None = None
        """When the last turn ended; None if no turn has ended since the user last saw the tab."""
        self.asked_at: float | None = None
        """When the agent began to wait for an answer; None if it is not waiting."""
        self.is_closing = False
        """Whether the user is being asked the questions that must be answered before the tab is closed."""
        self._state = screen.tab_state
        self._seen_entries = 0

    @property
    def state(self) -> TabState:
        """What the screen reported last."""
        return self._state

    @property
    def unread(self) -> int:
        """The number of entries added since the user last looked."""
        return max(0, self._state.entries - self._seen_entries)

    @property
    def mark(self) -> Mark:
        """The state to mark in the tab strip."""
        match self._state.activity:
            case "connecting" | "loading":
                return "starting"
            case "working" | "cancelling" | "background":
                return "working"
            case "asking":
                return "asking"
            case "dead":
                return "dead"
        return "done" if self.finished_at is not None else ""

    def update(self, state: TabState, now: float, *, in_front: bool) -> None:
        """Store the state that the screen reports. `in_front` says whether the user sees the tab."""
        before, self._state = self._state, state
        if state.activity != "asking":
            self.asked_at = None
        elif self.asked_at is None:
            self.asked_at = now
        if before.activity in BUSY and state.activity not in BUSY:
            self.finished_at = now
        if in_front:
            self.see()

    def see(self) -> None:
        """Mark everything in the tab as seen by the user."""
        self._seen_entries = self._state.entries
        self.finished_at = None

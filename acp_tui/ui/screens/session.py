"""Base class of screens with a session: status, transcript, search, footer, frame batching."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual import on

from acp_tui.ui import keys
from acp_tui.ui.conversation.frame_batch import FrameBatch
from acp_tui.ui.screens.pane_host import PaneHost
from acp_tui.ui.terminal.error_containment import contain_errors
from acp_tui.ui.transcript.search import TranscriptSearch
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.find_line import FindLine
from acp_tui.ui.widgets.key_bar import KeyBar
from acp_tui.ui.widgets.new_below import NewBelow
from acp_tui.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.widget import Widget

    from acp_tui.session.change import Change
    from acp_tui.session.state import Session
    from acp_tui.ui.conversation.status_tracker import StatusTracker
    from acp_tui.ui.theme.palette import Palette

TOAST_ROWS = 8
"""Empty rows that a few toasts need."""
QUIT_PAUSE = 2.0
"""Seconds in which a second Ctrl+C means to quit."""


class SessionScreen(PaneHost):
    """Shows a session, wherever that comes from: what changes in it is given to `frames`."""

    BINDINGS: ClassVar = keys.bindings("anywhere")
    INTERRUPT: ClassVar[str] = "turn.interrupt"
    DEFAULT_CSS = """
    SessionScreen { layers: page above; }
    """

    def __init__(self, session: Session, status: StatusTracker, palette: Palette) -> None:
        super().__init__()
        self.session = session
        self.frames = FrameBatch(self, self._show)
        self._status = status
        self._palette = palette
        self._interrupted_at = 0.0

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        facts = self._status.of(self.session, self.now(), asking=False)
        yield StatusLine(facts, self._palette, clock=self.now)
        transcript = Transcript(self.session, self._palette)
        yield transcript
        yield NewBelow(transcript, lambda: self.covered)
        yield FindLine()
        yield from self.below()
        yield KeyBar()

    def below(self) -> Iterable[Widget]:
        """What stands between the transcript and the footer."""
        return ()

    def on_mount(self) -> None:
        """Let the parts know each other."""
        self.finder = TranscriptSearch(self.transcript)
        self.transcript.use_clock(self.now)
        self.transcript.entry_layout.keymap = getattr(self.app, "keymap", {})
        self.watch(self.transcript, "unseen", self.query_one(NewBelow).show)
        self.app.theme_changed_signal.subscribe(self, lambda _: self._use_palette())

    @on(NewBelow.Clicked)
    @on(StatusLine.PhaseClicked)
    def _to_what_goes_on(self) -> None:
        self.transcript.follow()

    def now(self) -> float:
        """The time in the session, in seconds since the epoch."""
        return time.time()

    # ------------------------------------------------------------------------- what is shown

    def place_toasts(self) -> None:
        """Where the conversation is short, toasts go into the empty space below it, else to the top."""
        rack = next(iter(self.query("ToastRack")), None)
        if rack is None:
            return  # this screen is still being made, or taken down
        transcript = self.transcript
        empty = transcript.size.height - transcript.virtual_size.height
        below = self.size.height - transcript.region.bottom
        if empty >= TOAST_ROWS:
            rack.styles.dock, rack.styles.align_vertical = "bottom", "bottom"
            rack.styles.margin = (0, 0, below, 0)
        else:
            rack.styles.dock, rack.styles.align_vertical = "top", "top"
            rack.styles.margin = (1, 0, 0, 0)

    def _show(self, changes: list[Change]) -> None:
        """One frame."""
        with contain_errors(self.app):
            self.transcript.take(changes)
        with contain_errors(self.app):
            self.show_in_panes(changes)
        self._update_status()

    def _update_status(self) -> None:
        self._status.awaited = self._awaited()
        facts = self._status.of(self.session, self.now(), asking=self._asking())
        self.query_one(StatusLine).facts = facts

    def _asking(self) -> bool:
        """Is the user asked something?"""
        return False

    def _awaited(self) -> str:
        if self.session.phase == "connecting":
            return "starting" if self.session.agent is None else "opening a session"
        return "loading" if self.session.phase == "loading" else ""

    def _use_palette(self) -> None:
        palette = self.app.palette  # type: ignore[attr-defined]  # the only app there is
        self._palette = palette
        self.transcript.use_palette(palette)
        self.query_one(StatusLine).use_palette(palette)
        self.use_palette_in_panes(palette)

    # ------------------------------------------------------------------------- keys

    def _close_find(self) -> bool:
        """Close the search, or panes that lie over the conversation; False: nothing was open."""
        if self._finding:
            self.query_one(FindLine).action_close()
            return True
        return self.close_overlay()

    @property
    def _finding(self) -> bool:
        return self.query_one(FindLine).shown

    def _copy_selection(self) -> bool:
        """Copy what is selected; False: nothing is."""
        if (selected := self.get_selected_text()) is None:
            return False
        self.app.copy_to_clipboard(selected)
        self.clear_selection()
        return True

    def _quit_on_second(self) -> None:
        """Quit when this is asked for twice in a row."""
        if time.monotonic() - self._interrupted_at < QUIT_PAUSE:
            self.app.exit()
        else:
            self._interrupted_at = time.monotonic()
            self.notify(f"Press {keys.bound_keys(self, self.INTERRUPT)} again to quit.", timeout=QUIT_PAUSE)

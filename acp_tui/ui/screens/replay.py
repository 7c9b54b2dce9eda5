"""Plays a recorded session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from acp_tui.entry_display import folder_label
from acp_tui.session.change import Change
from acp_tui.ui import keys
from acp_tui.ui.conversation.frame_batch import INTERVAL
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.screens.session import SessionScreen
from acp_tui.ui.widgets.find_line import FindLine
from acp_tui.ui.widgets.player_bar import PlayerBar
from acp_tui.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.timer import Timer
    from textual.widget import Widget

    from acp_tui.controller.player import Player
    from acp_tui.ui.theme.palette import Palette

PLAYER_ACTIONS = frozenset({"pause", "step", "speed", "start", "finish"})
"""Actions of keys that mean something else where text is written."""


FAST_FORWARD_SLICE = 0.06
"""Seconds of playing at once before keys get their turn."""


class ReplayScreen(SessionScreen):
    """Plays a recording. It begins by itself."""

    BINDINGS: ClassVar = keys.bindings("replay")
    INTERRUPT = "replay.interrupt"
    AUTO_FOCUS = "Transcript"

    def __init__(self, player: Player, palette: Palette, *, problems: Sequence[str] = ()) -> None:
        super().__init__(player.session, StatusTracker(player.title), palette)
        self.player = player
        self.paused = False
        self._problems = problems
        self._clock: Timer | None = None
        self._unshown: set[str | None] = set()  # facts that were played at once; None: an entry

    def below(self) -> Iterable[Widget]:
        """Where the recording is."""
        return (PlayerBar(self.player, self._palette),)

    def on_mount(self) -> None:
        """Play."""
        self._clock = self.set_interval(INTERVAL, self._tick)
        for problem in self._problems:
            self.notify(problem, severity="warning", markup=False)

    def now(self) -> float:
        """What time it was when this was recorded."""
        return self.player.moment

    # ------------------------------------------------------------------------- playing

    def _tick(self) -> None:
        if self.paused:  # one tick may have been on its way
            return
        before = int(self.now())
        if self.player.at_once:
            self._hurry()
        else:
            self._take(self.player.advance(INTERVAL))
        if int(self.now()) != before:
            self.query_one(StatusLine).refresh()
        if self.player.ended:
            self._keep_time()

    def _hurry(self) -> None:
        """Play what is left and show it when all of it is there.

        Showing it in between took seven times as long.
        """
        deadline = time.monotonic() + FAST_FORWARD_SLICE
        while not self.player.ended:
            self._unshown |= {change.fact for change in self.player.advance(0)}
            if time.monotonic() >= deadline:
                break
        if self.player.ended:
            self._take([])
        else:
            self.query_one(PlayerBar).show(paused=False)

    def _take(self, changes: list[Change]) -> None:
        """Show these changes, and what was played at once before."""
        if self._unshown:
            facts, self._unshown = self._unshown - {None}, set()
            changes = [Change("reset"), *(Change("fact", None, name) for name in facts), *changes]
        self.frames.add(changes)
        self.query_one(PlayerBar).show(paused=self.paused)

    def _show(self, changes: list[Change]) -> None:
        if any(change.fact == "cwd" for change in changes):
            self._place()
        super()._show(changes)

    def _place(self) -> None:
        """Where the session is held; paths are shown as seen from there."""
        cwd = self.session.cwd or self.player.cwd
        self._status.project = folder_label(cwd)
        self.transcript.entry_layout.cwd = cwd

    def _awaited(self) -> str:
        return "the agent has ended" if self.session.phase == "dead" else super()._awaited()

    def _keep_time(self) -> None:
        """While nothing plays, nothing is done."""
        assert self._clock is not None
        if self.paused or self.player.ended:
            self._clock.pause()
        else:
            self._clock.resume()
        self.query_one(PlayerBar).show(paused=self.paused)

    def _use_palette(self) -> None:
        super()._use_palette()
        self.query_one(PlayerBar).use_palette(self._palette)

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002  # Textual's signature
        """What is typed into the search is typed there."""
        typing = self.focused is not None and isinstance(self.focused.parent, FindLine)
        return not (typing and action in PLAYER_ACTIONS)

    def action_pause(self) -> None:
        """Pause or go on; at the end play it once more."""
        if self.player.ended:
            self.action_start()
        else:
            self.paused = not self.paused
            self._take([])
            self._keep_time()

    def action_step(self) -> None:
        """One step further, and wait there."""
        self.paused = True
        self._take(self.player.step())
        self._keep_time()

    def action_speed(self, by: int) -> None:
        """Faster or slower."""
        self.player.faster(by)
        self._keep_time()

    def action_start(self) -> None:
        """Play from the beginning."""
        self.frames.flush()
        self.player.rewind()
        self._unshown.clear()
        self.session = self.player.session
        self._status = StatusTracker(self.player.title)
        self.finder.clear()
        self.transcript.use_session(self.session, self.player.cwd)
        self.paused = False
        self._update_status()
        self._keep_time()

    def action_finish(self) -> None:
        """Play all that is left at once."""
        self.player.hurry()
        self.transcript.follow()
        self.paused = False
        self._keep_time()

    def action_close(self) -> None:
        """Close the search, else quit."""
        if not self._close_find():
            self.app.exit()

    def action_interrupt(self) -> None:
        """Copy what is selected, else close what is open; asked twice: quit."""
        if not (self._copy_selection() or self._close_find()):
            self._quit_on_second()

"""The screen that replays a recorded session."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from acp_tui.entry_labels import folder_label
from acp_tui.session.change import Change
from acp_tui.ui import keys
from acp_tui.ui.conversation import gc_control
from acp_tui.ui.conversation.frame_batch import FRAME_SECONDS
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.screens.session.session_screen import SessionScreen
from acp_tui.ui.screens.session.subagent_views import SubagentViews
from acp_tui.ui.widgets.find_line import FindLine
from acp_tui.ui.widgets.player_bar import PlayerBar
from acp_tui.ui.widgets.status.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.timer import Timer
    from textual.widget import Widget

    from acp_tui.controller.player import Player
    from acp_tui.session.state import Entry
    from acp_tui.ui.theme.palette import Palette

PLAYER_ACTIONS = frozenset({"pause", "step", "speed", "start", "finish", "quit"})
"""Actions with printable keys. In the search line, their keys type text instead."""
FAST_FORWARD_SLICE = 0.1
"""Seconds of fast-forwarding before keys are processed again."""


class ReplayScreen(SessionScreen):
    """Shows a recording and plays it. Playing starts at once."""

    BINDINGS: ClassVar = keys.bindings("replay")
    INTERRUPT = "replay.interrupt"
    AUTO_FOCUS = "Transcript"

    def __init__(self, player: Player, palette: Palette, *, problems: Sequence[str] = ()) -> None:
        super().__init__(player.session, StatusTracker(player.title), palette)
        self.player = player
        self.paused = False
        self._subagents = SubagentViews(self, self.context, self.now)
        self._problems = problems
        self._clock: Timer | None = None
        self._skipped_facts: set[str | None] = set()  # changed facts that are not drawn yet; None: an entry

    def compose_bottom(self) -> Iterable[Widget]:
        """Return the player bar."""
        return (PlayerBar(self.player, self.palette),)

    def on_mount(self) -> None:
        self._clock = self.set_interval(FRAME_SECONDS, self._tick)
        if self.player.instant:
            self._tick()
        for problem in self._problems:
            self.notify(problem, severity="warning", markup=False)

    def now(self) -> float:
        """Return the time at which the current position was recorded."""
        return self.player.recorded_time

    # ------------------------------------------------------------------------- playing

    def _tick(self) -> None:
        if self.paused:  # a last tick may come after the pause
            return
        before = int(self.now())
        if self.player.instant:
            self._fast_forward()
        else:
            self._draw_changes(self.player.advance(FRAME_SECONDS))
        if int(self.now()) != before:
            self.query_one(StatusLine).refresh()
        if self.player.ended:
            self._update_clock()

    def _fast_forward(self) -> None:
        """Play the rest for `FAST_FORWARD_SLICE` seconds. If the end is not reached, schedule the next slice.

        The result is drawn once, at the end or when the user pauses. Drawing every step took seven times as
        long.
        """
        assert self._clock is not None
        self._clock.pause()  # waiting for its ticks would take a third of the total time
        gc_control.pause()  # nothing that a recording adds becomes garbage
        deadline = time.monotonic() + FAST_FORWARD_SLICE
        try:
            while not self.player.ended:
                self._skipped_facts |= {change.fact for change in self.player.advance(0)}
                if time.monotonic() >= deadline:
                    break
        finally:
            gc_control.resume()
        if self.player.ended:
            self._draw_changes([])
        else:
            self.query_one(PlayerBar).show(paused=False)
            asyncio.get_running_loop().call_later(0.001, self.call_next, self._tick)  # after waiting keys

    def _draw_changes(self, changes: list[Change]) -> None:
        """Draw changes, and everything that was fast-forwarded before."""
        if self._skipped_facts:
            facts, self._skipped_facts = self._skipped_facts - {None}, set()
            changes = [Change("reset"), *(Change("fact", None, name) for name in facts), *changes]
        self.frames.add(changes)
        self.query_one(PlayerBar).show(paused=self.paused)

    def show_changes(self, changes: list[Change]) -> None:
        """Draw the changes that were collected since the last frame."""
        if any(change.fact == "cwd" for change in changes):
            self._use_folder(self.session.cwd or self.player.cwd)
        super().show_changes(changes)
        self._subagents.show_changes(changes)

    def run_entry_action(self, action: str, entry: Entry) -> None:
        """Run an action, such as "copy", on an entry of the transcript."""
        if not self._subagents.run_entry_action(action, entry):
            super().run_entry_action(action, entry)

    def _use_folder(self, cwd: str) -> None:
        """Show paths relative to the folder of the session."""
        self.status.project = folder_label(cwd)
        self.context.cwd = self.transcript.entry_layout.cwd = cwd

    def awaited(self) -> str:
        """Return a status text: what the session waits for, or that the agent has ended; "" otherwise."""
        return "the agent has ended" if self.session.phase == "dead" else super().awaited()

    def _update_clock(self) -> None:
        """Run the timer only while the recording plays, and show the position."""
        assert self._clock is not None
        if self.paused or self.player.ended:
            self._clock.pause()
        else:
            self._clock.resume()
        self.query_one(PlayerBar).show(paused=self.paused)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        super().use_palette(palette)
        self.query_one(PlayerBar).use_palette(palette)

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002  # Textual's signature
        """Return False for the actions of the player while the user types into the search line, else True."""
        typing = self.focused is not None and isinstance(self.focused.parent, FindLine)
        return not (typing and action in PLAYER_ACTIONS)

    def action_pause(self) -> None:
        """Pause or continue; at the end, play again."""
        if self.player.ended:
            self.action_start()
        else:
            self.paused = not self.paused
            self._draw_changes([])
            self._update_clock()

    def action_step(self) -> None:
        """Play one step, then pause."""
        self.paused = True
        self._draw_changes(self.player.step())
        self._update_clock()

    def action_speed(self, by: int) -> None:
        """Play faster (1) or slower (-1)."""
        self.player.change_speed(by)
        self._update_clock()

    def action_start(self) -> None:
        """Play from the beginning."""
        self.frames.flush()
        self.player.rewind()
        self._skipped_facts.clear()
        self.status = StatusTracker(self.player.title)
        self.find.clear()
        self.show_session(self.player.session, self.player.cwd)
        self.paused = False
        self.update_status()
        self._update_clock()

    def action_finish(self) -> None:
        """Jump to the end."""
        self.player.play_instantly()
        self.transcript.follow()
        self.paused = False
        self._update_clock()

    def action_close(self) -> None:
        """Close the search or the panes over the transcript; quit if neither is open."""
        if not self.close_find_or_overlay():
            self.app.exit()

    def action_quit(self) -> None:
        """Do what `action_close` does."""
        self.action_close()

    def action_interrupt(self) -> None:
        """Copy the selection, close the search or the panes, or quit if the key is pressed twice.

        Does only the first of these actions that applies.
        """
        if not (self.copy_selection() or self.close_find_or_overlay()):
            self.quit_if_repeated()

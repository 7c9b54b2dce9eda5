"""The screen that replays a recorded session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.session.record import Change
from acp_tui.text_format import folder_label
from acp_tui.ui import keys
from acp_tui.ui.conversation.session_screen import FRAME_SECONDS, SessionScreen
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.conversation.subagent_screen import SubagentViews
from acp_tui.ui.terminal import gc_control
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.input_line import FindLine
from acp_tui.ui.widgets.status_line import StatusLine, format_clock

if TYPE_CHECKING:
    from textual.timer import Timer

    from acp_tui.controller.player import Player
    from acp_tui.session.state import Entry
    from acp_tui.wire.entry_frames import EntryPlace


MIN_TRACK_CELLS = 8
"""The minimum width of the progress track. With less room, it is not shown."""
PLAYER_ACTIONS = frozenset({"pause", "step", "speed", "start", "finish", "quit"})
"""Actions with printable keys. In the search line, their keys type text instead."""
FAST_FORWARD_SLICE = 0.1
"""Seconds of fast-forwarding before keys are processed again."""


class ReplayScreen(SessionScreen):
    """Shows a recording and plays it. Playing starts at once."""

    BINDINGS: ClassVar = keys.bindings("replay")
    INTERRUPT = "replay.interrupt"
    AUTO_FOCUS = "Transcript"

    def __init__(self, player: Player, *, problems: Sequence[str] = (), wire_log: Path | None = None) -> None:
        """`wire_log` is the recording that the player plays."""
        super().__init__(player.session, StatusTracker(player.title))
        self.player = player
        self.paused = False
        self._subagents = SubagentViews(self)
        self._problems = problems
        self._wire_log = wire_log
        self._clock: Timer | None = None
        self._skipped_facts: set[str | None] = set()  # changed facts that are not drawn yet; None: an entry

    def compose_bottom(self) -> Iterable[Widget]:
        """Return the player bar."""
        return (PlayerBar(self.player),)

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

    @property
    def wire_log(self) -> Path | None:
        """The recording."""
        return self._wire_log

    def show_entry_at(self, place: EntryPlace) -> None:
        """Show an entry of the transcript, or of that of a subagent."""
        self._subagents.show_entry_at(place)

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


class PlayerBar(Widget):
    """Shows a replay's state, its time, a progress track, its speed and the number of the current prompt."""

    DEFAULT_CSS = """
    PlayerBar { height: 2; border-top: solid $foreground 20%; padding: 0 1; }
    """
    ALLOW_SELECT = False

    def __init__(self, player: Player) -> None:
        super().__init__()
        self._player = player
        self._paused = False
        self._last_drawn: tuple[str, str, int] | None = None  # left text, right text, filled cells

    def show(self, *, paused: bool) -> None:
        """Show the player's position; redraw only if something visible changed."""
        self._paused = paused
        current = (self._left(), self._right(), self._played_cells(self._track_width()))
        if current != self._last_drawn:
            self._last_drawn = current
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        palette, width = current_palette(), self.size.width
        segments = [Segment(self._left(), palette.text)]
        if track := self._track_width():
            played = self._played_cells(track)
            segments.append(Segment("━" * played, palette.accent))
            segments.append(Segment("─" * (track - played), palette.faint))
        segments.append(Segment(self._right(), palette.dim))
        return Strip(segments).crop_extend(0, width, self.rich_style).apply_style(self.rich_style)

    def _left(self) -> str:
        player = self._player
        sign = "■" if player.ended else "‖" if self._paused else "▶"
        return f"{sign} {format_clock(player.elapsed)} of {format_clock(player.length)}  "

    def _right(self) -> str:
        player = self._player
        if (pause := player.shortened_pause) is not None and not self._paused:
            pauses = f"pause of {format_clock(pause)} shortened"
        elif player.skipped_seconds >= 1:
            pauses = f"{format_clock(player.skipped_seconds)} of pauses skipped"
        else:
            pauses = ""
        speed = "instant" if player.speed == float("inf") else f"×{player.speed:g}"
        place = f"record {player.played} of {player.total}"  # of a recording without prompts
        if player.prompts:
            place = f"prompt {player.prompts_played} of {player.prompts}"
        parts = [f"  {speed}", place, pauses]
        return " · ".join(part for part in parts if part)

    def _track_width(self) -> int:
        left = self.size.width - cell_len(self._left()) - cell_len(self._right())
        return left if left >= MIN_TRACK_CELLS else 0

    def _played_cells(self, track: int) -> int:
        player = self._player
        fraction = player.elapsed / player.length if player.length else float(player.ended)
        return round(track * fraction)

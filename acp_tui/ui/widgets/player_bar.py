"""The player bar, which replaces the prompt during a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.widgets.status.status_texts import format_clock

if TYPE_CHECKING:
    from acp_tui.controller.player import Player
    from acp_tui.ui.theme.palette import Palette

MIN_TRACK_CELLS = 8
"""The minimum width of the progress track. With less room, it is not shown."""


class PlayerBar(Widget):
    """Shows a replay's state, its time, a progress track, its speed and the number of the current prompt."""

    DEFAULT_CSS = """
    PlayerBar { height: 2; border-top: solid $foreground 20%; padding: 0 1; }
    """
    ALLOW_SELECT = False

    def __init__(self, player: Player, palette: Palette) -> None:
        super().__init__()
        self._player = player
        self._palette = palette
        self._paused = False
        self._last_drawn: tuple[str, str, int] | None = None  # left text, right text, filled cells

    def show(self, *, paused: bool) -> None:
        """Show the player's position; redraw only if something visible changed."""
        self._paused = paused
        current = (self._left(), self._right(), self._played_cells(self._track_width()))
        if current != self._last_drawn:
            self._last_drawn = current
            self.refresh()

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        self._palette = palette
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        palette, width = self._palette, self.size.width
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

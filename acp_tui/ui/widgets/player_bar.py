"""Where a recording is: takes the place of the prompt when a session is replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.widgets.status_facts import duration

if TYPE_CHECKING:
    from acp_tui.controller.player import Player
    from acp_tui.ui.theme.palette import Palette

MIN_TRACK_CELLS = 8
"""Cells; with less room there is none."""


class PlayerBar(Widget):
    """One line: whether it plays, the time, how far it is, the speed, the records."""

    DEFAULT_CSS = """
    PlayerBar { height: 2; border-top: solid $foreground 20%; padding: 0 1; }
    """
    ALLOW_SELECT = False

    def __init__(self, player: Player, palette: Palette) -> None:
        super().__init__()
        self._player = player
        self._palette = palette
        self._paused = False
        self._said: tuple[str, str, int] | None = None  # what was drawn last, and in how many cells

    def show(self, *, paused: bool) -> None:
        """The player has moved on; only what looks different is drawn."""
        self._paused = paused
        said = (self._left(), self._right(), self._reached(self._track_width()))
        if said != self._said:
            self._said = said
            self.refresh()

    def use_palette(self, palette: Palette) -> None:
        """The theme has changed."""
        self._palette = palette
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        """The line."""
        palette, width = self._palette, self.size.width
        segments = [Segment(self._left(), palette.text)]
        if track := self._track_width():
            reached = self._reached(track)
            segments.append(Segment("━" * reached, palette.accent))
            segments.append(Segment("─" * (track - reached), palette.faint))
        segments.append(Segment(self._right(), palette.dim))
        return Strip(segments).crop_extend(0, width, self.rich_style).apply_style(self.rich_style)

    def _left(self) -> str:
        player = self._player
        sign = "■" if player.ended else "‖" if self._paused else "▶"
        return f"{sign} {duration(player.elapsed)} of {duration(player.length)}  "

    def _right(self) -> str:
        player = self._player
        if (pause := player.shortened) is not None and not self._paused:
            said = f"a pause of {duration(pause)}, shortened"
        elif player.left_out >= 1:
            said = f"pauses of {duration(player.left_out)} left out"
        else:
            said = ""
        speed = "at once" if player.speed == float("inf") else f"×{player.speed:g}"
        words = [f"  {speed}", f"record {player.played} of {player.total}", said]
        return " · ".join(word for word in words if word)

    def _track_width(self) -> int:
        left = self.size.width - cell_len(self._left()) - cell_len(self._right())
        return left if left >= MIN_TRACK_CELLS else 0

    def _reached(self, track: int) -> int:
        player = self._player
        share = player.elapsed / player.length if player.length else float(player.ended)
        return round(track * share)

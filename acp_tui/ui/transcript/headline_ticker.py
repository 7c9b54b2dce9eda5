"""Keeps the displayed durations of running entries up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region

if TYPE_CHECKING:
    from textual.scroll_view import ScrollView
    from textual.timer import Timer

    from acp_tui.ui.transcript.entry_layout import EntryLayout


class HeadlineTicker:
    """Redraws the first lines of running entries every second, as long as any of these lines is visible."""

    def __init__(self, view: ScrollView, layout: EntryLayout) -> None:
        self._view = view
        self._layout = layout
        self._timer: Timer | None = None

    @property
    def running(self) -> bool:
        """True while the timer runs."""
        return self._timer is not None

    def update(self) -> None:
        """Start the timer if the first line of a running entry is visible; otherwise stop the timer.

        Without a clock, the timer does not run. Must be called whenever the visible lines have changed.
        """
        needed = self._layout.clock is not None and bool(self._rows())
        if needed and self._timer is None:
            self._timer = self._view.set_interval(1, self._tick)
        elif not needed and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _tick(self) -> None:
        top, width = self._view.scroll_offset.y, self._view.size.width
        self._view.refresh(*(Region(0, row - top, width, 1) for row in self._rows()))

    def _rows(self) -> list[int]:
        return self._layout.running(self._view.scroll_offset.y, self._view.size.height)

"""A full-screen view of one transcript entry, updated while it grows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.ui.entries.renderers import make_body
from acp_tui.ui.screens.detail import DetailScreen
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.strip import Strip
    from textual.timer import Timer

    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.drawing.body import Body, DrawContext, LongBody
    from acp_tui.ui.theme.palette import Palette

INTERVAL = 0.1
"""Seconds between updates."""
STEP_SECONDS, STEP_LINES = 0.05, 100
"""How long, and how many lines at a time, an entry is measured before keys are looked at again."""


class FullEntryScreen(DetailScreen):
    """An entry as in the transcript, with nothing folded and nothing left out."""

    def __init__(self, entry: Entry, palette: Palette, *, session: Session, cwd: str = "") -> None:
        super().__init__(kind_of(entry).title, self._drawn, palette, session=session, cwd=cwd)
        self._entry = entry
        self._timer: Timer | None = None
        self._settled: MeasuredBody | None = None

    def on_mount(self) -> None:
        """Follow it until it ends."""
        super().on_mount()
        if self._goes_on or not self._complete:
            self._timer = self.set_interval(INTERVAL, self._look)

    @property
    def _goes_on(self) -> bool:
        return getattr(self._entry, "ended_at", self._entry.at) is None

    @property
    def _complete(self) -> bool:
        return self._settled is None or self._settled.complete

    def _look(self) -> None:
        if not self._goes_on and self._complete and self._timer is not None:
            self._timer.stop()
        self.query_one(BodyScroller).update()
        self.call_after_refresh(self._tell_place)

    def _drawn(self, context: DrawContext) -> Sequence[Body]:
        body = make_body(self._entry, context)
        self._settled = MeasuredBody(cast("LongBody", body))
        return [self._settled]


class MeasuredBody:
    """A long body of which all heights are known, so that a page can draw it as any other.

    Measuring a very long one takes seconds: that is done in steps, with every update, and what has been
    measured is shown meanwhile.
    """

    def __init__(self, body: LongBody) -> None:
        self._body = body
        self._measured = 0
        self.complete = False
        """Has everything been measured?"""
        self._measure()

    def _measure(self) -> None:
        """Measure on for a moment."""
        until = time.monotonic() + STEP_SECONDS
        self._measure_step()
        while not self.complete and time.monotonic() < until:
            self._measure_step()

    def _measure_step(self) -> None:
        self._body.settle(self._measured, self._measured + STEP_LINES)
        self._measured += STEP_LINES
        self.complete = self._measured >= self._body.height

    @property
    def height(self) -> int:
        """Exact, of what has been measured."""
        return self._body.height if self.complete else min(self._body.height, self._measured)

    def line(self, number: int) -> Strip:
        """Of the body."""
        return self._body.line(number)

    def copy_text(self) -> str:
        """Of the body."""
        return self._body.copy_text()

    def update(self) -> bool:
        """Take in what came, and measure it."""
        same = self._body.update()
        if self.complete:
            self._measured = max(0, self._measured - STEP_LINES)  # the last lines may have changed
            self.complete = False
        self._measure()
        return same

"""The full-screen view of one transcript entry, updated while the entry grows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.entries.renderers import make_body
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.strip import Strip

    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.drawing.body import Body, DrawContext, LongBody


UPDATE_SECONDS = 0.1
"""Seconds between two checks whether the page needs an update."""
STEP_SECONDS = 0.05
"""The maximum duration of one update, so that keys are not delayed."""
STEP_LINES = 100
"""The number of lines that an update measures before it checks the time again."""


class FullEntryScreen(DetailScreen):
    """Shows an entry as in the transcript, with nothing folded or left out."""

    def __init__(self, entry: Entry, *, session: Session, cwd: str = "") -> None:
        super().__init__(kind_of(entry).title, self._draw, session=session, cwd=cwd)
        self._entry = entry
        self._drawn_version = entry.version
        self._body: MeasuredBody | None = None

    def on_mount(self) -> None:
        """Start to check for changes of the entry, and for lines that have not been measured yet."""
        super().on_mount()
        self.set_interval(UPDATE_SECONDS, self._update)

    def _update(self) -> None:
        """Update the page if the entry has changed or is running, or if not all of it has been measured."""
        entry, body = self._entry, self._body
        has_changed = entry.version != self._drawn_version or kind_of(entry).is_running(entry)
        if body is None or (body.complete and not has_changed):
            return
        self._drawn_version = entry.version
        self.query_one(BodyScroller).update()
        self.call_after_refresh(self._show_position)

    def _draw(self, context: DrawContext) -> Sequence[Body]:
        body = make_body(self._entry, context)
        self._body = MeasuredBody(cast("LongBody", body))
        return [self._body]


class MeasuredBody:
    """A long body that is measured in steps, because measuring all of a very long one takes seconds.

    Each update measures more lines. The page shows the lines measured so far.
    """

    def __init__(self, body: LongBody) -> None:
        self._body = body
        self._measured = 0
        self.complete = False
        """True if everything has been measured."""
        self._measure()

    def _measure(self) -> None:
        """Measure some more lines."""
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
        """The number of lines measured so far."""
        return self._body.height if self.complete else min(self._body.height, self._measured)

    def line(self, number: int) -> Strip:
        """Return the drawn line with this number."""
        return self._body.line(number)

    def copy_text(self) -> str:
        """Return the source text of the whole body."""
        return self._body.copy_text()

    def update(self) -> bool:
        """Update the body and measure more lines. Return False if a new body must be made instead."""
        same = self._body.update()
        if self.complete:
            self._measured = max(0, self._measured - STEP_LINES)  # the last lines may have changed
            self.complete = False
        self._measure()
        return same

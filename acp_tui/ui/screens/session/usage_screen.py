"""The screen that shows what a session used: context window, tokens, cost and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.screens.dialogs.detail import DetailScreen
from acp_tui.ui.screens.session.usage_lines import usage_body
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.state import Session
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.theme.palette import Palette

REFRESH_SECONDS = 1.0


class UsageScreen(DetailScreen):
    """Shows the usage of a session, updated every second."""

    def __init__(
        self, session: Session, palette: Palette, *, warning: float, now: Callable[[], float]
    ) -> None:
        """`warning` is the used share of the context window, from 0 to 1, at which the screen warns."""
        super().__init__("Usage", self._usage, palette, session=session)
        self._warning = warning
        self._now = now

    def on_mount(self) -> None:
        """Update the numbers every second, because an agent can report new numbers at any time."""
        super().on_mount()
        self.set_interval(REFRESH_SECONDS, self._refresh)

    def _usage(self, context: DrawContext) -> Sequence[Body]:
        return [usage_body(context, warning=self._warning, now=self._now())]

    def _refresh(self) -> None:
        self.query_one(BodyScroller).update()

"""The full-screen view of a terminal's output, updated while the terminal's command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import STATUS_ICONS, terminal_command
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.entries.terminal.full_output import FullOutput
from acp_tui.ui.entries.terminal.terminal import exit_text, status_name
from acp_tui.ui.screens.dialogs.detail import DetailScreen
from acp_tui.ui.widgets.bar import Bar
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from textual.timer import Timer

    from acp_tui.session.state import Session, Terminal
    from acp_tui.ui.theme.palette import Palette

UPDATE_SECONDS = 0.1
"""Seconds between two updates of the page while the command runs."""


class OutputScreen(DetailScreen):
    """Shows all output of a terminal that acp-tui keeps. At first, the end of the output is visible."""

    def __init__(self, terminal: Terminal, palette: Palette, *, session: Session, cwd: str = "") -> None:
        title = visible_line(terminal_command(terminal, cwd)) or "Agent command"
        super().__init__(
            title, lambda context: [FullOutput(terminal, context)], palette, session=session, cwd=cwd
        )
        self._terminal = terminal
        self._shown_version = -1
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Update the page until the command ends."""
        super().on_mount()
        self._timer = self.set_interval(UPDATE_SECONDS, self._update)
        self._show_state()
        self.call_after_refresh(self.action_end)

    def _update(self) -> None:
        ended = self._terminal.ended_at is not None
        if self._terminal.version != self._shown_version:
            self._shown_version = self._terminal.version
            self.query_one(BodyScroller).update()
            self.call_after_refresh(self._show_position)
        if ended:
            assert self._timer is not None
            self._timer.stop()
            self._show_state()

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        super().use_palette(palette)
        self._show_state()

    def _show_state(self) -> None:
        state, palette = status_name(self._terminal), self._palette
        words = exit_text(self._terminal) or ("runs" if self._terminal.ended_at is None else "")
        spans = [
            Segment(f"{STATUS_ICONS[state]} ", palette.signs[state]),
            Segment(self._title, palette.strong),
            Segment(f"  {words}", palette.signs[state]),
        ]
        self.query_one("#head", Bar).show(spans)

"""The status line at the top, which shows the pieces that `status_layout` returns."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.widgets.status.status_layout import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.timer import Timer

    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.status.status_facts import StatusFacts
    from acp_tui.ui.widgets.status.status_texts import Piece

TICKING_PHASES = frozenset({"connecting", "loading", "working", "cancelling"})
"""Phases whose duration is shown."""


class StatusLine(Widget):
    """Shows `StatusFacts` in one row."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $surface; color: $foreground; }
    """
    ALLOW_SELECT = False

    class SettingClicked(Message):
        """The mode, the model or the policy was clicked: let the user choose another one."""

        def __init__(self, setting: str) -> None:
            super().__init__()
            self.setting = setting

    class PhaseClicked(Message):
        """The phase was clicked: scroll to the end of the conversation."""

    class UsageClicked(Message):
        """The context or the cost was clicked: show what the session used."""

    class AskingTabsClicked(Message):
        """The user clicked the count of other tabs with a question: show the tab that has waited longest."""

    _CLICKABLE: ClassVar = ("mode", "policy", "model", "context", "cost", "tabs", "phase")

    def __init__(
        self,
        facts: StatusFacts,
        palette: Palette,
        *,
        clock: Callable[[], float] = time.time,
        id: str | None = None,  # noqa: A002  # as in Textual
    ) -> None:
        super().__init__(id=id)
        self._facts = facts
        self._palette = palette
        self._clock = clock
        self._timer: Timer | None = None
        self._hovered: str | None = None

    @property
    def facts(self) -> StatusFacts:
        """The contents of the status line."""
        return self._facts

    @facts.setter
    def facts(self, facts: StatusFacts) -> None:
        if facts != self._facts:
            self._facts = facts
            self._tick_while_needed()
            self.refresh()

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        self._palette = palette
        self.refresh()

    def on_mount(self) -> None:
        """Start the timer if the duration of the phase is shown."""
        self._tick_while_needed()

    @property
    def ticking(self) -> bool:
        """True while the line is redrawn every second."""
        return self._timer is not None

    def _tick_while_needed(self) -> None:
        """Redraw the line every second, but only in phases whose duration is shown."""
        needed = self._facts.phase in TICKING_PHASES and self.is_attached
        if needed and self._timer is None:
            self._timer = self.set_interval(1, self.refresh)
        elif not needed and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        base = self.rich_style
        pieces = layout(self._facts, self.size.width, self._clock())
        line = Strip([Segment(piece.text, base + self._style(piece)) for piece in pieces])
        return line.adjust_cell_length(self.size.width, base)

    def _style(self, piece: Piece) -> Style:
        style: Style = getattr(self._palette, piece.style)
        if piece.part not in self._CLICKABLE:
            return style
        style += Style.from_meta({"part": piece.part})
        return style + Style(underline=True) if piece.part == self._hovered else style

    def on_click(self, event: events.Click) -> None:
        """Post the message of the clicked part."""
        part = event.style.meta.get("part")
        if part in self._CLICKABLE:
            event.stop()
            self.post_message(self._message(part))

    def _message(self, part: str) -> Message:
        """Return the message for a click on a part."""
        match part:
            case "phase":
                return self.PhaseClicked()
            case "tabs":
                return self.AskingTabsClicked()
            case "context" | "cost":
                return self.UsageClicked()
        return self.SettingClicked(part)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Underline the part under the mouse if the part can be clicked."""
        self._hover(event.style.meta.get("part"))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, part: str | None) -> None:
        if part != self._hovered:
            self._hovered = part
            self.refresh()

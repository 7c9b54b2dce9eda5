"""The widget shown in place of the prompt while a session can only be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import shorten_spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.geometry import Size

    from acp_tui.ui.theme.palette import Palette

MAX_REASON_LINES = 4


class ReadOnlyLine(Widget, can_focus=True):
    """Says why nothing can be sent, and which keys the user can press."""

    DEFAULT_CSS = """
    ReadOnlyLine { height: auto; border-top: solid $foreground 20%; padding: 0 1; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar = keys.bindings("read_only")

    def __init__(self, reason: str, palette: Palette, on_continue: Callable[[], None]) -> None:
        super().__init__()
        self._on_continue = on_continue
        self.palette = palette
        self._reason = reason

    def show(self, reason: str) -> None:
        """Say why nothing can be sent, in place of the earlier reason. `reason` is a sentence."""
        self._reason = reason
        self.refresh(layout=True)

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        """Return the number of lines of the reason, plus one for the keys."""
        return len(self._reason_lines(width)) + 1

    def _reason_lines(self, width: int) -> list[Strip]:
        lead, reason = (
            Segment("⊘ Read-only. ", self.palette.warning),
            Segment(visible_line(self._reason), self.palette.text),
        )
        return hanging_lines([], [lead, reason], width, 0)[:MAX_REASON_LINES]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._reason_lines(width)
        line = lines[y] if y < len(lines) else Strip(shorten_spans(self._keys(), width))
        return line.crop_extend(0, width, self.rich_style).apply_style(self.rich_style)

    def _keys(self) -> list[Segment]:
        palette = self.palette
        return [
            Segment(f"{keys.bound_keys(self, 'session.continue')} ", palette.key),
            Segment("continue in a new session · ", palette.dim),
            Segment(f"{keys.bound_keys(self.screen, 'agent.restart')} ", palette.key),
            Segment("try again", palette.dim),
        ]

    def action_continue(self) -> None:
        """Continue in a new session."""
        self._on_continue()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.focus()

"""What the agent thought: one line that tells how long, and below it, unless it is folded, the thought."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.entries.parts import MessageParts
from acp_tui.ui.entries.tool_call.headline import FOLDED, OPEN, format_duration

if TYPE_CHECKING:
    from acp_tui.session.state import Thought
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.entries.parts import PartPosition
    from acp_tui.ui.theme.palette import Palette


def body(entry: Thought, context: DrawContext) -> Body:
    """A thought in the transcript."""
    return ThoughtBody(entry, context)


class ThoughtBody:
    """The line and the text; the text is not looked at while it is folded."""

    def __init__(self, thought: Thought, context: DrawContext) -> None:
        self._thought = thought
        self._context = context
        self._ended = thought.ended_at is not None
        self._text: MessageParts | None = None
        if not context.folded:
            palette = muted(context.palette)
            bar = [Segment("│ ", palette.faint)]
            self._text = MessageParts(thought, replace(context, palette=palette), bar)

    @property
    def height(self) -> int:
        """The line, and those of the text."""
        return 1 + (self._text.height if self._text is not None else 0)

    def settle(self, first: int, last: int) -> None:
        """Make the heights of these lines, and so their numbers, exact."""
        if self._text is not None and last > 0:
            self._text.settle(max(0, first - 1), last - 1)

    def line(self, number: int) -> Strip:
        """One line."""
        if number > 0 and self._text is not None:
            return self._text.line(number - 1)
        sign = FOLDED if self._text is None else OPEN
        style = self._context.palette.thought
        return Strip([Segment(shorten(f"{sign} {self._summary()}", self._context.width), style)])

    def copy_text(self) -> str:
        """The thought."""
        return self._thought.text

    def update(self) -> bool:
        """Take in what is new; that it has ended may fold it."""
        if self._ended != (self._thought.ended_at is not None):
            return False
        return self._text is None or self._text.update()

    def place_of(self, line: int) -> PartPosition:
        """Where a line is, whatever the heights above it become."""
        return self._text.place_of(line - 1) if line > 0 and self._text is not None else (-1, (0, 0))

    def line_of(self, place: PartPosition) -> int:
        """The number of the line at such a place now."""
        return 1 + self._text.line_of(place) if place[0] >= 0 and self._text is not None else 0

    def _summary(self) -> str:
        thought, now = self._thought, self._context.now
        if thought.ended_at is not None:
            return f"thought for {format_duration(max(1, round(thought.ended_at - thought.at)))}"
        if now is None:
            return "thinking"
        return f"thinking for {format_duration(max(1, round(now() - thought.at)))}"


def muted(palette: Palette) -> Palette:
    """The same palette with one colour for everything but links."""
    own = palette.thought
    return replace(
        palette,
        text=own,
        strong=own + palette.strong.without_color,
        emphasis=own + palette.emphasis.without_color,
        heading1=own + palette.heading1.without_color,
        heading2=own + palette.heading2.without_color,
        heading3=own + palette.heading3.without_color,
        inline_code=own,
        bullet=own,
        quote=own,
        table_head=own + palette.table_head.without_color,
        code=palette.code + own,
        syntax={},
    )

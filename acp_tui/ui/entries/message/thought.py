"""Draws a thought of the agent: one line with the duration and, unless the thought is folded, the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.entry_kinds.messages import thought_title
from acp_tui.entry_labels import format_duration
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.entries.message.message_parts import MessageParts
from acp_tui.ui.entries.tool_call.headline import FOLDED, OPEN

if TYPE_CHECKING:
    from acp_tui.session.state import Thought
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.entries.message.message_parts import PartPosition
    from acp_tui.ui.theme.palette import Palette


def body(entry: Thought, context: DrawContext) -> Body:
    return ThoughtBody(entry, context)


class ThoughtBody:
    """The body of a thought: a headline and the text. While the thought is folded, its text is not parsed."""

    def __init__(self, thought: Thought, context: DrawContext) -> None:
        self._thought = thought
        self._context = context
        self._ended = thought.ended_at is not None
        self._text: MessageParts | None = None
        if not context.folded:
            palette = muted(context.palette)
            bar = [Segment("│ ", palette.faint)]
            self._text = MessageParts(thought, replace(context, palette=palette), bar)

    def can_fold(self) -> bool:
        """Return True if there is text to fold."""
        return bool(self._thought.parts)

    @property
    def height(self) -> int:
        """The number of lines: the headline and the text."""
        return 1 + (self._text.height if self._text is not None else 0)

    def settle(self, first: int, last: int) -> None:
        """Replace estimated heights by exact ones from line `first` to line `last`."""
        if self._text is not None and last > 0:
            self._text.settle(max(0, first - 1), last - 1)

    def line(self, number: int) -> Strip:
        if number > 0 and self._text is not None:
            return self._text.line(number - 1)
        sign = FOLDED if self._text is None else OPEN
        style = self._context.palette.thought
        return Strip([Segment(shorten(f"{sign} {self._headline()}", self._context.width), style)])

    def copy_text(self) -> str:
        """Return the text of the thought."""
        return self._thought.text

    def update(self) -> bool:
        """Draw appended text. Return False if a new body is needed, for example at the thought's end."""
        if self._ended != (self._thought.ended_at is not None):
            return False
        return self._text is None or self._text.update()

    def position_at(self, line: int) -> PartPosition:
        """Return a position that still denotes the same line after heights above that line have changed."""
        return self._text.position_at(line - 1) if line > 0 and self._text is not None else (-1, (0, 0))

    def line_at(self, place: PartPosition) -> int:
        """Return the current number of the line that a position from `position_at` denotes."""
        return 1 + self._text.line_at(place) if place[0] >= 0 and self._text is not None else 0

    def _headline(self) -> str:
        thought, clock = self._thought, self._context.clock
        if thought.ended_at is not None:
            return thought_title(thought)
        if clock is None:
            return "thinking"
        return f"thinking for {format_duration(max(1, round(clock() - thought.at)))}"


def muted(palette: Palette) -> Palette:
    """Return a palette that draws text in the muted colour of thoughts. Links keep their colour."""
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

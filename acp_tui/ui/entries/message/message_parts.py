"""Draws a message with several parts: text, files, images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual.strip import Strip

from acp_tui.session.state import AnnotatedText, Content
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.entries.content import content_lines, withheld_lines
from acp_tui.ui.markdown.document import Document

if TYPE_CHECKING:
    from acp_tui.session.text.growing_text import GrowingText
    from acp_tui.ui.drawing.body import DrawContext, Spans

    Part = Document | LinesBody
    PartPosition = tuple[int, tuple[int, int]]


class HasParts(Protocol):
    """A message or another entry that consists of parts: growing texts, and other content such as images."""

    parts: list[GrowingText | Content]

    @property
    def text(self) -> str:
        """The text of all parts, without other content."""


class MessageParts:
    """Draws the parts of a message."""

    def __init__(
        self, message: HasParts, context: DrawContext, before: Spans, *, plain: bool = False
    ) -> None:
        """Each line begins with `before`. If `plain` is true, text is not drawn as Markdown."""
        self._message = message
        self._context = context
        self._before = before
        self._plain = plain
        self._parts: list[Part] = []
        self._gaps: list[int] = []  # blank lines above each part
        self._heights = Heights()
        self.update()

    @property
    def height(self) -> int:
        """The number of lines: exact for settled parts, estimated for the others."""
        return self._heights.total

    def update(self) -> bool:
        """Draw the text appended to the last part, and new parts.

        Always return True: the body stays usable.
        """
        count = len(self._parts)
        if count:
            if isinstance(self._message.parts[count - 1], AnnotatedText):
                self._parts[-1] = self._draw(self._message.parts[count - 1])
            elif isinstance(last := self._parts[-1], Document):
                last.update()
            self._measure(count - 1)
        for part in self._message.parts[count:]:
            self._parts.append(self._draw(part))
            self._gaps.append(self._gap(len(self._parts) - 1))
            self._heights.append(0)
            self._measure(len(self._parts) - 1)
        return True

    def settle(self, first: int, last: int) -> None:
        """Compute the exact heights of the lines from `first` to `last`."""
        index, row = self._heights.at(first)
        while index < len(self._parts) and (top := self._heights.top(index)) <= last:
            part = self._parts[index]
            if isinstance(part, Document):
                top += self._gaps[index]
                part.settle(max(0, row - self._gaps[index]), last - top)
                self._measure(index)
            index, row = index + 1, 0

    def line(self, number: int) -> Strip:
        index, row = self._heights.at(number)
        if index < len(self._parts):
            row -= self._gaps[index]
            part = self._parts[index]
            if 0 <= row < part.height:
                return part.line(row)
        return Strip(self._before)

    def copy_text(self) -> str:
        """Return the source text of the message."""
        return self._message.text

    def position_at(self, line: int) -> PartPosition:
        """Return a position that still denotes the same line after heights above that line have changed."""
        index, row = self._heights.at(line)
        part = self._parts[index] if index < len(self._parts) else None
        row -= self._gaps[index] if part is not None else 0
        return (
            (index, part.position_at(row)) if row >= 0 and isinstance(part, Document) else (index, (0, row))
        )

    def line_at(self, place: PartPosition) -> int:
        """Return the current number of the line that a position from `position_at` denotes."""
        index, inside = place
        part = self._parts[index] if index < len(self._parts) else None
        row = part.line_at(inside) if inside[1] >= 0 and isinstance(part, Document) else inside[1]
        return self._heights.top(index) + (self._gaps[index] if part is not None else 0) + row

    def _draw(self, part: GrowingText | Content) -> Part:
        context, before = self._context, self._before
        if isinstance(part, AnnotatedText) and part.for_assistant_only:
            return LinesBody(withheld_lines("text", str(part), context, before), "")
        if isinstance(part, Content):
            return LinesBody(content_lines(part, context, before), "")
        return Document(part, context.palette, context.width, before, plain=self._plain)

    def _gap(self, index: int) -> int:
        """Return the number of blank lines above a part: 0 in a user message or between attachments."""
        if index == 0 or self._plain:
            return 0
        return int(any(isinstance(part, Document) for part in self._parts[index - 1 : index + 1]))

    def _measure(self, index: int) -> None:
        height = self._parts[index].height
        self._heights[index] = self._gaps[index] + height if height else 0

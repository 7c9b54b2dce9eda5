"""The parts of a message below each other: its text, and what else came with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

from acp_tui.session.state import AnnotatedText, Content
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.heights import Heights
from acp_tui.ui.entries.content import content_lines, withheld_lines
from acp_tui.ui.markdown.document import Document

if TYPE_CHECKING:
    from acp_tui.session.state import Message
    from acp_tui.session.text import GrowingText
    from acp_tui.ui.drawing.body import DrawContext, Spans

    Part = Document | LinesBody
    PartPosition = tuple[int, tuple[int, int]]


class MessageParts:
    """Draws the parts of a message. `before` stands before each line; `plain`: its text is not Markdown."""

    def __init__(self, message: Message, context: DrawContext, before: Spans, *, plain: bool = False) -> None:
        self._message = message
        self._context = context
        self._before = before
        self._plain = plain
        self._parts: list[Part] = []
        self._gaps: list[int] = []
        self._heights = Heights()
        self.update()

    @property
    def height(self) -> int:
        """Exact where it was settled, else estimated."""
        return self._heights.total

    def update(self) -> bool:
        """Take in what is new, at the end of the last part and after it."""
        known = len(self._parts)
        if known:
            if isinstance(self._message.parts[known - 1], AnnotatedText):
                self._parts[-1] = self._drawn(self._message.parts[known - 1])
            elif isinstance(last := self._parts[-1], Document):
                last.update()
            self._measure(known - 1)
        for part in self._message.parts[known:]:
            self._parts.append(self._drawn(part))
            self._gaps.append(self._gap(len(self._parts) - 1))
            self._heights.append(0)
            self._measure(len(self._parts) - 1)
        return True

    def settle(self, first: int, last: int) -> None:
        """Make the heights of these lines, and so their numbers, exact."""
        index, row = self._heights.at(first)
        while index < len(self._parts) and (top := self._heights.top(index)) <= last:
            part = self._parts[index]
            if isinstance(part, Document):
                top += self._gaps[index]
                part.settle(max(0, row - self._gaps[index]), last - top)
                self._measure(index)
            index, row = index + 1, 0

    def line(self, number: int) -> Strip:
        """One line."""
        index, row = self._heights.at(number)
        if index < len(self._parts):
            row -= self._gaps[index]
            part = self._parts[index]
            if 0 <= row < part.height:
                return part.line(row)
        return Strip(self._before)

    def copy_text(self) -> str:
        """The text as it was written."""
        return self._message.text

    def place_of(self, line: int) -> PartPosition:
        """Where a line is, whatever the heights above it become."""
        index, row = self._heights.at(line)
        part = self._parts[index] if index < len(self._parts) else None
        row -= self._gaps[index] if part is not None else 0
        return (index, part.place_of(row)) if row >= 0 and isinstance(part, Document) else (index, (0, row))

    def line_of(self, place: PartPosition) -> int:
        """The number of the line at such a place now."""
        index, inside = place
        part = self._parts[index] if index < len(self._parts) else None
        row = part.line_of(inside) if inside[1] >= 0 and isinstance(part, Document) else inside[1]
        return self._heights.top(index) + (self._gaps[index] if part is not None else 0) + row

    def _drawn(self, part: GrowingText | Content) -> Part:
        context, before = self._context, self._before
        if isinstance(part, AnnotatedText) and part.for_assistant_only:
            return LinesBody(withheld_lines("text", str(part), context, before), "")
        if isinstance(part, Content):
            return LinesBody(content_lines(part, context, before), "")
        return Document(part, context.palette, context.width, before, plain=self._plain)

    def _gap(self, index: int) -> int:
        """What came with the text follows the user's words closely, and each other."""
        if index == 0 or self._plain:
            return 0
        return int(any(isinstance(part, Document) for part in self._parts[index - 1 : index + 1]))

    def _measure(self, index: int) -> None:
        height = self._parts[index].height
        self._heights[index] = self._gaps[index] + height if height else 0

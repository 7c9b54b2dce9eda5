"""Messages of the user and the agent, thoughts, and compactions of the agent's context."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.entry_kinds.messages import thought_title
from acp_tui.entry_labels import compaction_words
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    AgentMessage,
    AnnotatedText,
    Compaction,
    Content,
    Message,
    Thought,
    UserMessage,
)
from acp_tui.text_format import format_duration
from acp_tui.ui.drawing.body import Body, DrawContext, Heights, LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines, short_hanging_lines
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.entries.content import content_lines, withheld_lines
from acp_tui.ui.entries.headline import FOLDED, OPEN
from acp_tui.ui.markdown import scanner
from acp_tui.ui.markdown.document import Document

if TYPE_CHECKING:
    from acp_tui.ui.theme.palette import Palette, Spans


if TYPE_CHECKING:
    Part = Document | LinesBody
    PartPosition = tuple[int, tuple[int, int]]


class MessageParts:
    """Draws the parts of a message, or of the summary of a compaction."""

    def __init__(
        self, message: Message | Compaction, context: DrawContext, before: Spans, *, plain: bool = False
    ) -> None:
        """Each line begins with `before`. If `plain` is true, text is not drawn as Markdown."""
        self._message = message
        self._context = context
        self._before = before
        self._plain = plain
        self._source = message.parts
        self._parts: list[Part] = []
        self._gaps: list[int] = []  # blank lines above each part
        self._heights = Heights()
        self.update()

    @property
    def height(self) -> int:
        """The number of lines: exact for settled parts, estimated for the others."""
        return self._heights.total

    def update(self) -> bool:
        """Draw the text appended to the last part, and new parts. Return False if the parts were replaced."""
        if self._message.parts is not self._source:
            return False
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


INDENT = "  "


def agent_message_body(entry: AgentMessage, context: DrawContext) -> Body:
    """Draw a message: its text, and content such as images and files."""
    return MessageParts(entry, context, [Segment(INDENT, context.palette.text)])


def code_blocks(message: Message) -> list[str]:
    """Return the source of each code block in a message."""
    return scanner.code_blocks(message.text)


def user_message_body(entry: UserMessage, context: DrawContext) -> Body:
    """Draw a prompt: its text beside a vertical bar, and its attachments."""
    palette = context.palette
    own = replace(context, palette=replace(palette, text=palette.user))
    return MessageParts(entry, own, [Segment("┃ ", palette.user_bar)], plain=True)


def prompt_text(entry: UserMessage) -> str:
    """Return the text of a prompt, without its attachments."""
    return next((str(part) for part in entry.parts if isinstance(part, GrowingText)), "")


def attachment_blocks(entry: UserMessage) -> list[dict[str, Any]]:
    """Return the attachments of a prompt as content blocks of the Agent Client Protocol."""
    return [
        {
            "type": part.kind,
            "uri": part.uri,
            "data": part.data,
            "mimeType": part.mime,
            "resource": {"uri": part.uri, "text": part.text},
        }
        for part in entry.parts
        if isinstance(part, Content)
    ]


class _TextBelowHead:
    """A body with some lines at the top and Markdown below. While the entry is folded, it is not parsed."""

    _head_height = 1

    def __init__(self, entry: Thought | Compaction, context: DrawContext, *, shows_text: bool) -> None:
        self._entry = entry
        self._context = context
        self._text: MessageParts | None = None
        if shows_text:
            bar = [Segment("│ ", context.palette.faint)]
            self._text = MessageParts(entry, replace(context, palette=muted(context.palette)), bar)

    @abstractmethod
    def _head_line(self, number: int) -> Strip: ...

    def can_fold(self) -> bool:
        """Return True if there is text to fold."""
        return bool(self._entry.parts)

    @property
    def height(self) -> int:
        return self._head_height + (self._text.height if self._text is not None else 0)

    def settle(self, first: int, last: int) -> None:
        """Replace estimated heights by exact ones from line `first` to line `last`."""
        above = self._head_height
        if self._text is not None and last >= above:
            self._text.settle(max(0, first - above), last - above)

    def line(self, number: int) -> Strip:
        if number < self._head_height or self._text is None:
            return self._head_line(number)
        return self._text.line(number - self._head_height)

    def position_at(self, line: int) -> PartPosition:
        """Return a position that still denotes the same line after heights above that line have changed."""
        if self._text is None or line < self._head_height:
            return -1, (0, line)
        return self._text.position_at(line - self._head_height)

    def line_at(self, place: PartPosition) -> int:
        """Return the current number of the line that a position from `position_at` denotes."""
        part, (_, row) = place
        return self._head_height + self._text.line_at(place) if part >= 0 and self._text is not None else row


class ThoughtBody(_TextBelowHead):
    """The body of a thought: a headline and the text."""

    def __init__(self, thought: Thought, context: DrawContext) -> None:
        super().__init__(thought, context, shows_text=not context.folded)
        self._thought = thought
        self._ended = thought.ended_at is not None

    def copy_text(self) -> str:
        return self._thought.text

    def update(self) -> bool:
        """Draw appended text. Return False if a new body is needed, for example at the thought's end."""
        if self._ended != (self._thought.ended_at is not None):
            return False
        return self._text is None or self._text.update()

    def _head_line(self, number: int) -> Strip:  # noqa: ARG002  # there is one line only
        """Draw the headline, which shows how long the agent has been thinking: it is not cached."""
        thought, clock = self._thought, self._context.clock
        words = "thinking"
        if thought.ended_at is not None:
            words = thought_title(thought)
        elif clock is not None:
            words = f"thinking for {format_duration(max(1, round(clock() - thought.at)))}"
        sign = FOLDED if self._text is None else OPEN
        style = self._context.palette.thought
        return Strip([Segment(shorten(f"{sign} {words}", self._context.width), style)])


class CompactionBody(_TextBelowHead):
    """The body of a compaction: the status, the error if any, and the summary."""

    def __init__(self, compaction: Compaction, context: DrawContext) -> None:
        super().__init__(compaction, context, shows_text=bool(compaction.parts) and not context.folded)
        self._compaction = compaction
        self._shown = (compaction_words(compaction), compaction.error)
        self._parts = compaction.parts
        self._head = _compaction_head(compaction, context)
        self._head_height = len(self._head)

    def _head_line(self, number: int) -> Strip:
        return self._head[number]

    def copy_text(self) -> str:
        """Return the status, the error and the summary."""
        entry = self._compaction
        return "\n".join(filter(None, (compaction_words(entry), entry.error, entry.text)))

    def update(self) -> bool:
        """Draw text appended to the summary.

        Return False if a new body is needed, because anything else changed or no summary was drawn before.
        """
        entry = self._compaction
        same = self._shown == (compaction_words(entry), entry.error) and self._parts is entry.parts
        return same and self._text is not None and self._text.update()


def _compaction_head(entry: Compaction, context: DrawContext) -> list[Strip]:
    palette = context.palette
    sign = (FOLDED if context.folded else OPEN) if entry.parts else "·"
    style = palette.error if entry.status == "failed" else palette.thought
    lines = hanging_lines(
        [Segment(f"{sign} ", style)], [Segment(compaction_words(entry), style)], context.width
    )
    if entry.error:
        lead = [Segment("  ")]
        lines += short_hanging_lines(lead, [Segment(" ".join(entry.error.split()), palette.error)], context)
    return lines


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

"""The entry kinds for messages of the user, messages of the agent, and the agent's thoughts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from acp_tui.console import pluralize
from acp_tui.entry_kinds.blocks import (
    Block,
    ContentBlock,
    FoldBlock,
    Headline,
    MarkdownText,
    Part,
    PlainText,
    Speech,
)
from acp_tui.entry_kinds.plain_text import indented, joined_lines
from acp_tui.session.state import AnnotatedText, Content, Message, Session, Thought
from acp_tui.text_format import format_duration

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.growing_text import GrowingText

MEDIA_KINDS = ("image", "audio", "resource_link", "resource")


def is_over(thought: Thought) -> bool:
    """Return True if the thought has ended. Text with the same message id can still continue the thought."""
    return thought.ended_at is not None


def thought_title(thought: Thought) -> str:
    """Return the line that a folded thought shows."""
    if thought.ended_at is None:
        return "thought"
    return f"thought for {format_duration(max(1, round(thought.ended_at - thought.at)))}"


# --------------------------------------------------------------------------- height


def prompt_height(message: Message, width: int) -> int:
    return 1 + _length(message.parts) // max(20, width - 4)


def answer_height(message: Message, width: int) -> int:
    return text_height(message.parts, width)


def text_height(parts: list[GrowingText | Content], width: int) -> int:
    """Estimate the height of Markdown, whose lines fill about two thirds of the width."""
    return 1 + _length(parts) // (max(20, width - 4) * 2 // 3)


def _length(parts: list[GrowingText | Content]) -> int:
    return sum(getattr(part, "length", 40) for part in parts)


# --------------------------------------------------------------------------- texts


def prompt_blocks(message: Message, _context: TextContext) -> Iterable[Block]:
    return [Speech("user", message_parts(message.parts, PlainText))]


def answer_blocks(message: Message, _context: TextContext) -> Iterable[Block]:
    return [Speech("agent", message_parts(message.parts))]


def thought_blocks(thought: Thought, _context: TextContext) -> Iterable[Block]:
    return [FoldBlock(Headline(thought_title(thought)), message_parts(thought.parts), is_over(thought))]


def thought_lines(thought: Thought, context: TextContext) -> Iterable[str]:
    """Return a thought as plain text; only the number of lines, if any, if `context.thoughts` is false."""
    lines = joined_lines(message_parts(thought.parts))
    if context.thoughts or not lines:
        return indented(lines, ". ")
    return [f". thought, {pluralize(len(lines), 'line')}"]


def message_parts(
    parts: list[GrowingText | Content], text_part: type[PlainText | MarkdownText] = MarkdownText
) -> list[Part]:
    """Return the parts of a message or summary as parts of a block."""
    return [
        ContentBlock(part)
        if isinstance(part, Content)
        else text_part(str(part), isinstance(part, AnnotatedText) and part.for_assistant_only)
        for part in parts
    ]


def search_text(message: Message, _session: Session) -> Iterable[str]:
    """Return the text of a message, without attachments."""
    return [message.text]


def first_media(parts: Sequence[object]) -> Content | None:
    """Return the first image, audio, link or file among the parts of a message or the content of a call."""
    return next((part for part in parts if isinstance(part, Content) and part.kind in MEDIA_KINDS), None)

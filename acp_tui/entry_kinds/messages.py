"""The entry kinds for messages of the user, messages of the agent, and the agent's thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds.blocks import (
    ContentBlock,
    FoldBlock,
    Headline,
    MarkdownText,
    PlainText,
    Speech,
    content_lines,
    indented,
    line_count,
    withheld,
)
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import AnnotatedText, Content
from acp_tui.text_format import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.entry_kinds.blocks import Block, Part
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import Message, Session, Thought

MEDIA_KINDS = ("image", "audio", "resource_link", "resource")


def is_over(thought: Thought) -> bool:
    """Return True if the thought has ended. Text with the same message id can still continue the thought."""
    return thought.ended_at is not None


def is_growing(thought: Thought) -> bool:
    """Return True if the thought has not ended."""
    return thought.ended_at is None


def thought_title(thought: Thought) -> str:
    """Return the line that a folded thought shows."""
    if thought.ended_at is None:
        return "thought"
    return f"thought for {format_duration(max(1, round(thought.ended_at - thought.at)))}"


# --------------------------------------------------------------------------- height


def prompt_height(message: Message, width: int) -> int:
    """Estimate the height of a user message."""
    return 1 + _length(message.parts) // max(20, width - 4)


def answer_height(message: Message, width: int) -> int:
    """Estimate the height of an agent message."""
    return text_height(message.parts, width)


def text_height(parts: list[GrowingText | Content], width: int) -> int:
    """Estimate the height of Markdown, whose lines fill about two thirds of the width."""
    return 1 + _length(parts) // (max(20, width - 4) * 2 // 3)


def _length(parts: list[GrowingText | Content]) -> int:
    return sum(getattr(part, "length", 40) for part in parts)


# --------------------------------------------------------------------------- texts


def prompt_lines(message: Message, _context: TextContext) -> Iterable[str]:
    """Return a user message as plain text."""
    return indented(_lines(message), "> ")


def answer_lines(message: Message, _context: TextContext) -> Iterable[str]:
    """Return an agent message as plain text."""
    return _lines(message)


def thought_lines(thought: Thought, context: TextContext) -> Iterable[str]:
    """Return a thought as plain text; only the number of lines, if any, if `context.thoughts` is false."""
    lines = _lines(thought)
    if context.thoughts or not lines:
        return indented(lines, ". ")
    return [f". thought, {line_count(lines)}"]


def _lines(message: Message) -> Sequence[str]:
    pieces: list[str] = []
    for part in message.parts:
        is_withheld = isinstance(part, AnnotatedText | Content) and part.for_assistant_only
        text = str(part) if isinstance(part, GrowingText) else "\n".join(content_lines(part))
        if is_withheld:
            text = withheld(text.splitlines())
        stands_alone = is_withheld or (isinstance(part, Content) and part.kind != "text")
        pieces.append(f"\n{text}\n" if stands_alone else text)
    return "".join(pieces).strip("\n").splitlines()


def search_text(message: Message, _session: Session) -> Iterable[str]:
    """Return the searchable texts of a message: its text, without attachments."""
    return [message.text]


# --------------------------------------------------------------------------- exports


def prompt_blocks(message: Message, _context: TextContext) -> Iterable[Block]:
    """Return the blocks that show a user message in an export."""
    return [Speech("user", message_parts(message.parts, PlainText))]


def answer_blocks(message: Message, _context: TextContext) -> Iterable[Block]:
    """Return the blocks that show an agent message in an export."""
    return [Speech("agent", message_parts(message.parts))]


def thought_blocks(thought: Thought, _context: TextContext) -> Iterable[Block]:
    """Return the blocks that show a thought in an export."""
    return [FoldBlock(Headline(thought_title(thought)), message_parts(thought.parts), is_over(thought))]


def message_parts(
    parts: list[GrowingText | Content], text_part: type[PlainText | MarkdownText] = MarkdownText
) -> list[Part]:
    """Return the parts of a message or summary, for an export."""
    return [ContentBlock(part) if isinstance(part, Content) else text_part(str(part)) for part in parts]


# --------------------------------------------------------------------------- actions


def first_media(message: Message) -> Content | None:
    """Return the first image, audio, link or file of a message."""
    return next(
        (part for part in message.parts if isinstance(part, Content) and part.kind in MEDIA_KINDS), None
    )

"""Limits on the number, the nesting and the transcripts of subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session import events as ev
from acp_tui.session.state import Content, Diff

if TYPE_CHECKING:
    from acp_tui.session.state import Session, Subagent, TerminalRef

MAX_SUBAGENTS = 200
"""The maximum number of subagents in a conversation.

This is also the limit for sessions that were not announced; these are counted separately.
"""
MAX_DEPTH = 8
"""How deeply subagents may be nested. Those that the main agent starts have the depth 1."""
MAX_SIZE = 8_000_000
"""The maximum size of a subagent's transcript, in characters. Updates beyond it are only in the log."""
EVENT_SIZE = 200
"""What an event counts towards `MAX_SIZE` in addition to its text, in characters."""


def has_room(root: Session, parent: Subagent | None) -> bool:
    """Return True if `parent` may start one more subagent; None means the main agent."""
    depth = 1
    while parent is not None:
        depth += 1
        parent = root.subagents.get(parent.parent)
    return depth <= MAX_DEPTH and len(root.subagents) < MAX_SUBAGENTS


def text_size(event: ev.Event) -> int:
    """Return the length of the text that an event adds to a transcript."""
    match event:
        case ev.TextChunk() | ev.TerminalOutput():
            return len(event.text)
        case ev.ToolCallChanged():
            return sum(map(content_size, event.content or ()))
        case ev.ContentChunk():
            return content_size(event.content)
        case ev.CompactionChunk():
            return len(event.text) + content_size(event.content)
        case ev.CompactionChanged():
            return sum(map(content_size, event.summary or ()))
    return 0


def content_size(item: Content | Diff | TerminalRef | None) -> int:
    """Return the length of a piece of content. A reference to a terminal has none."""
    if isinstance(item, Content):
        return len(item.text) + len(item.data or "")
    return len(item.old or "") + len(item.new or "") if isinstance(item, Diff) else 0

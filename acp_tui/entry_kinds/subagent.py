"""The entry kinds for subagents (with their transcripts) and for messages between subagents and the agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.console import pluralize
from acp_tui.entry_kinds.blocks import (
    Block,
    Code,
    ContentBlock,
    FoldBlock,
    Headline,
    MarkdownText,
    Part,
    PlainText,
)
from acp_tui.entry_kinds.plain_text import indented, part_lines
from acp_tui.entry_labels import call_title
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    AgentMessage,
    Content,
    Entry,
    Message,
    Session,
    SessionMessage,
    Subagent,
    ToolCall,
)
from acp_tui.text_format import MIN_SECONDS, format_duration

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import EntryKind, TextContext

    Kinds = Mapping[type[Entry], EntryKind]

ICON = "◈"
LAST_ENTRIES = 5
"""How many of a transcript's last entries `last_line` looks at."""
LAST_LINE_CHARACTERS = 400
"""How many of a message's last characters `last_line` looks at."""


class SubagentState(NamedTuple):
    """A subagent's state, in words, and the tool call status whose icon and colour show this state."""

    words: str
    status: str


_IDLE_STATES = {
    "end_turn": SubagentState("done", "completed"),
    "cancelled": SubagentState("stopped", "cancelled"),
    "refusal": SubagentState("refused to continue", "unfinished"),
    "max_tokens": SubagentState("reached its token limit", "unfinished"),
    "max_turn_requests": SubagentState("reached its request limit", "unfinished"),
    "error": SubagentState("failed", "failed"),
}
_CALL_WORDS = {"failed": "failed", "cancelled": "stopped", "unfinished": "left open"}


def state_of(entry: Subagent) -> SubagentState:
    """Return what a subagent is doing, or how its work ended."""
    if entry.is_asking and entry.state != "ended":
        return SubagentState("waiting for you", "in_progress")
    if entry.session.cancelling:
        return SubagentState("stopping", "in_progress")
    if entry.is_running:
        return SubagentState("working", "in_progress")
    if entry.call is not None:
        return SubagentState(_CALL_WORDS.get(entry.call.status, "done"), entry.call.status)
    match entry.state:
        case "idle":
            known = _IDLE_STATES.get(entry.stop_reason or "end_turn")
            return known or SubagentState(f"ended: {entry.stop_reason}", "unfinished")
        case "ended":
            return SubagentState("ended when the agent exited", "unfinished")
        case "" | "unknown":
            return SubagentState("state unknown", "pending")
    return SubagentState(entry.state, "pending")


def counts(entry: Subagent) -> str:
    """Return the numbers of tool calls and messages in a subagent's transcript: `3 tool calls, 1 message`."""
    parts = [
        pluralize(count, noun)
        for count, noun in ((entry.call_count, "tool call"), (entry.message_count, "message"))
        if count
    ]
    return ", ".join(parts)


def duration(entry: Subagent) -> str:
    """Return how long a subagent's last run took. Empty during a run, and if the run took almost no time."""
    ended = entry.call.ended_at if entry.call is not None and not entry.is_running else entry.ended_at
    seconds = (ended or 0.0) - entry.began_at
    return format_duration(seconds) if ended is not None and seconds > MIN_SECONDS else ""


def last_line(entry: Subagent) -> str:
    """Return a line about one of the last entries of a subagent's transcript; empty if there is none.

    The line is the end of a message, the title of a tool call, or the name and state of a nested subagent.
    """
    for item in reversed(entry.session.entries[-LAST_ENTRIES:]):
        line = ""
        if isinstance(item, ToolCall):
            line = call_title(item, entry.session.cwd or "")
        elif isinstance(item, Message):
            line = _last_line_of(item)
        elif isinstance(item, Subagent):
            line = f"{item.name}: {state_of(item).words}"
        if line:
            return line
    return ""


def _last_line_of(message: Message) -> str:
    texts = [part for part in message.parts if isinstance(part, GrowingText)]
    if not texts:
        return ""
    end = texts[-1].since(texts[-1].length - LAST_LINE_CHARACTERS)
    return next((line.strip() for line in reversed(end.splitlines()) if line.strip(" `*_#-")), "")


def has_failed(entry: Subagent) -> bool:
    return state_of(entry).status == "failed"


def progress(entry: Subagent) -> str:
    return f"subagent {entry.name}: {state_of(entry).words}"


# --------------------------------------------------------------------------- its transcript as text


def plain_text(kinds: Kinds, entry: Subagent, context: TextContext) -> Iterator[str]:
    """Yield a subagent as plain text: a line with its name and state, then its whole transcript."""
    described = f" ({entry.description})" if entry.description and entry.description != entry.name else ""
    facts = ", ".join(filter(None, (state_of(entry).words, counts(entry), duration(entry))))
    yield f"@ Subagent: {entry.name}{described}: {facts}"
    if entry.error:
        yield f"  {entry.error}"
    inner = _inside(entry, context)
    for item in entry.session.entries:
        yield from indented(kinds[type(item)].lines(item, inner))


def search_text(kinds: Kinds, entry: Subagent, _session: Session) -> Iterator[str]:
    yield from (entry.name, entry.description)
    for item in entry.session.entries:
        yield kinds[type(item)].searched_text(item, entry.session)


def blocks(kinds: Kinds, entry: Subagent, context: TextContext) -> Iterable[Block]:
    """Return a folded block with a subagent's transcript: answers as Markdown, the rest as plain text."""
    inner = _inside(entry, context)
    parts: list[Part] = []
    for item in entry.session.entries:
        if isinstance(item, AgentMessage):
            parts.append(MarkdownText(item.text))
        elif lines := list(kinds[type(item)].lines(item, inner)):
            parts.append(Code("\n".join(lines)))
    state = state_of(entry)
    facts = [text for text in (state.words, counts(entry), duration(entry)) if text]
    return [
        FoldBlock(Headline(f"Subagent: {entry.name}", ICON, facts=facts, status=state.status), parts, True)
    ]


def _inside(entry: Subagent, context: TextContext) -> TextContext:
    """Return the context for the entries in a subagent's transcript."""
    return context._replace(session=entry.session, cwd=entry.session.cwd or context.cwd)


# --------------------------------------------------------------------------- messages between sessions


def message_label(message: SessionMessage) -> str:
    """Return the sender or the recipient of a message, such as `from NAME` or `to the agent`."""
    return f"{'from' if message.received else 'to'} {message.peer or 'the agent'}"


def message_starts_folded(message: SessionMessage) -> bool:
    """Return True, except for a message that a subagent received from the agent, such as its task.

    Such a message is shown in the subagent's transcript.
    """
    return bool(message.peer) or not message.received


def message_lines(message: SessionMessage, _context: TextContext) -> Iterator[str]:
    yield f"@ Message {message_label(message)}:"
    for part in message.parts:
        shown = ContentBlock(part) if isinstance(part, Content) else PlainText(str(part))
        yield from indented(part_lines(shown))


def message_blocks(message: SessionMessage, _context: TextContext) -> Iterable[Block]:
    headline = Headline(f"Message {message_label(message)}", ICON)
    return [FoldBlock(headline, [PlainText(message.text)], True)]


def peer_transcript(message: SessionMessage) -> str | None:
    """Return the key of the subagent that sent or received a message; None if the other side is the agent."""
    return message.peer_id if message.peer else None

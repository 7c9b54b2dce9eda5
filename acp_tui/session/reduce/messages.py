"""Messages of the user and the agent, which grow chunk by chunk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.record import Change
from acp_tui.session.reduce.entries import add_entry, end_message, out_of_phase, touch
from acp_tui.session.state import (
    AgentMessage,
    AnnotatedText,
    Annotations,
    Content,
    Message,
    Session,
    SessionMessage,
    Thought,
    UserMessage,
)

if TYPE_CHECKING:
    from acp_tui.session.events import ContentChunk, MessageReplaced, SessionMessageChanged, TextChunk

_ENTRY: dict[str, type[Message]] = {"agent": AgentMessage, "thought": Thought, "user": UserMessage}
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
MAX_SPLIT_ATTEMPTS = 20
"""A message that was interrupted is not split after this many ends of paragraphs inside a code block."""
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def text_chunk(session: Session, event: TextChunk, at: float) -> list[Change]:
    """Append the text of a chunk to its message, without an echo of the prompt.

    The usual case is handled first, for speed.
    """
    kind = _ENTRY[event.speaker]
    message = session.reducer_state.message
    message_id = event.message_id
    if (
        type(message) is kind
        and message.parts
        and type(part := message.parts[-1]) is GrowingText
        and event.annotations is None
        and (message_id is None or message_id == message.message_id)
        and not (
            kind is UserMessage and (session.reducer_state.echo_at is not None or session.phase == "loading")
        )
        and (kind is not AgentMessage or session.reducer_state.split is None)
    ):
        part.append(event.text)
        message.version += 1
        return [Change("updated", message)]
    text = event.text
    if kind is UserMessage:
        prompt = _unconfirmed_prompt(session)
        if prompt is not None and message_id and session.reducer_state.echo.startswith(text.strip()):
            _confirm_prompt(session, prompt, message_id)
        text = _remove_echo(session, text)
    if not text:  # agents send empty chunks for their `_meta`
        return []
    if (
        kind is UserMessage
        and session.phase == "loading"
        and message_id is None
        and event.annotations is None
    ):
        _end_replayed_prompt(session, text, at)
    if kind is AgentMessage and session.reducer_state.split is not None:
        return _split_message(session, event, at)
    message, changes = _message(session, kind, message_id, at)
    _text_part(message, event.annotations).append(text)
    return _changed(message, changes)


def _end_replayed_prompt(session: Session, text: str, at: float) -> None:
    """End a replayed prompt that ends with text, because another text follows.

    Agents replay whole prompts, and without message ids, prompts that got no answer follow each other
    directly. White space where the texts meet means that they are chunks of one prompt.
    """
    last = session.reducer_state.message
    if not isinstance(last, UserMessage) or not last.parts or type(part := last.parts[-1]) is not GrowingText:
        return
    if part.since(part.length - 1).strip() and text[:1].strip():
        end_message(session, at)


def _split_message(session: Session, event: TextChunk, at: float) -> list[Change]:
    """Append a chunk to a message that a notice interrupted. Text after the paragraph goes below the notice.

    A paragraph or a code block is not torn apart, because its parts would be drawn wrongly.
    """
    memory = session.reducer_state
    message, changes = _message(session, AgentMessage, event.message_id, at)
    part = _text_part(message, event.annotations)
    head, rest = _paragraph_end(part.since(max(0, part.length - 2)), event.text)
    if memory.split is not None and rest.strip() and memory.split[0] is message:
        if len(_FENCE.findall(str(part) + head)) % 2 == 0:
            return [*changes, *_begin_below(session, message, event, head, rest, at)]
        attempts = memory.split[1] + 1
        memory.split = (message, attempts) if attempts < MAX_SPLIT_ATTEMPTS else None
    part.append(event.text)
    return _changed(message, changes)


def _paragraph_end(before: str, text: str) -> tuple[str, str]:
    """Split a chunk where a paragraph ends. If none ends, the rest is empty. `before` precedes the chunk."""
    if before == "\n\n":
        return "", text
    overlap = 1 if before.endswith("\n") else 0
    found = _PARAGRAPH_END.search("\n" * overlap + text)
    cut = found.end() - overlap if found is not None else len(text)
    return text[:cut], text[cut:]


def _begin_below(
    session: Session, message: Message, event: TextChunk, head: str, rest: str, at: float
) -> list[Change]:
    """End a message with `head`, and begin another one, with the same id, with `rest`."""
    changes: list[Change] = []
    if head:
        _text_part(message, event.annotations).append(head)
        changes = _changed(message, [])
    changes += end_message(session, at)
    if event.message_id is not None:
        session.reducer_state.by_message_id.pop((AgentMessage, event.message_id), None)
    below, added = _message(session, AgentMessage, event.message_id, at)
    _text_part(below, event.annotations).append(rest)
    return [*changes, *_changed(below, added)]


def content_chunk(session: Session, event: ContentChunk, at: float) -> list[Change]:
    """Append an image, a link or other content to the message that it belongs to."""
    kind = _ENTRY[event.speaker]
    if kind is UserMessage and _echoes_content(session, event.content):
        return []
    message, changes = _message(session, kind, event.message_id, at)
    message.parts.append(event.content)
    return _changed(message, changes)


def message_replaced(session: Session, event: MessageReplaced, at: float) -> list[Change]:
    """Set the contents of a message. The prompt that was sent last gets the id that the agent gives it.

    Contents of an unknown message that are empty begin it with its first chunk.
    """
    kind = _ENTRY[event.speaker]
    memory = session.reducer_state
    known = memory.by_message_id.get((kind, event.message_id))
    if known is None and kind is UserMessage and (known := _unconfirmed_prompt(session)) is not None:
        _confirm_prompt(session, known, event.message_id)
        memory.echo_at = None
    if known is None:
        if not event.contents:
            return []
        known, changes = _message(session, kind, event.message_id, at)
    else:
        changes = [touch(known)]
    if event.contents is not None:
        known.parts = []
        for content in event.contents:
            _add_content(known, content)
    return _changed(known, changes)


def _unconfirmed_prompt(session: Session) -> UserMessage | None:
    """Return the prompt of the running turn, unless the agent has reported it in its history."""
    start = session.reducer_state.turn_began
    prompt = session.entries[start] if session.working and start < len(session.entries) else None
    return prompt if isinstance(prompt, UserMessage) and prompt.message_id is None else None


def _confirm_prompt(session: Session, prompt: UserMessage, message_id: str) -> None:
    """Give a prompt the id under which the agent keeps it."""
    prompt.message_id = message_id
    session.reducer_state.by_message_id[UserMessage, message_id] = prompt


def _add_content(message: Message, content: Content) -> None:
    """Append a content block. Text without annotations extends the text before it."""
    if content.kind != "text" or content.annotations is not None:
        message.parts.append(content)
    else:
        _text_part(message, None).append(content.text)


def _changed(message: Message, changes: list[Change]) -> list[Change]:
    if not any(change.entry is message for change in changes):
        message.version += 1
        changes.append(Change("updated", message))
    return changes


def _text_part(message: Message, annotations: Annotations | None) -> GrowingText:
    """Return the last part of the message if that part has these annotations; otherwise add a new part."""
    last = message.parts[-1] if message.parts else None
    if annotations is None:
        if type(last) is GrowingText:
            return last
        part = GrowingText()
    else:
        if isinstance(last, AnnotatedText) and last.annotations == annotations:
            return last
        part = AnnotatedText(annotations)
    message.parts.append(part)
    return part


def _message(
    session: Session, kind: type[Message], message_id: str | None, at: float
) -> tuple[Message, list[Change]]:
    """Return the message that a chunk extends, and the changes to the session.

    A new message is added to the session. The list of changes is empty if the previous chunk extended the
    same message. A message id is unique within its turn. A chunk without an id belongs to the message of the
    previous chunk if that message is of the same kind and no other entry has ended the message. Otherwise the
    chunk begins a new message.
    """
    memory = session.reducer_state
    message = memory.message
    if type(message) is kind and message_id in (None, message.message_id):
        return message, []
    if message_id is not None:
        known = memory.by_message_id.get((kind, message_id))
        if known is not None:
            changes = end_message(session, at)
            _resume(session, known)
            return known, changes
    if kind is UserMessage and session.phase == "loading":
        begin_turn(session, at)
    message = kind(id=0, at=at, message_id=message_id)
    message.stray = out_of_phase(session)
    changes = add_entry(session, message, at)
    _resume(session, message)
    return message, changes


def _resume(session: Session, message: Message) -> None:
    """Make the next chunks extend this message."""
    memory = session.reducer_state
    memory.message = message
    if message.message_id is not None:
        memory.by_message_id[type(message), message.message_id] = message
    if isinstance(message, Thought):
        message.ended_at = None


def begin_turn(session: Session, at: float) -> None:
    """Start a turn, because a prompt was sent or is replayed."""
    memory = session.reducer_state
    session.turn += 1
    session.turn_started = at
    memory.turn_began = len(session.entries)
    if session.dialect != "v2":  # whose ids are unique in the session
        memory.by_message_id.clear()
    memory.repeated.clear()
    memory.echo_at = None


# --------------------------------------------------------------------------- messages between sessions


def session_message(
    session: Session, event: SessionMessageChanged, own_id: str | None, at: float
) -> list[Change]:
    """Add or change a message that the session `own_id` sent to another session or received from one.

    Does not set `peer`, the name of the other session: the caller sets `peer` afterwards.
    """
    known = session.reducer_state.session_messages
    message = known.get(event.message_id)
    if message is None:
        message = SessionMessage(id=0, at=at, message_id=event.message_id, stray=out_of_phase(session))
        known[event.message_id] = message
        changes = add_entry(session, message, at)
    else:
        changes = [touch(message)]
    for peer_id, received in ((event.sender, True), (event.recipient, False)):
        if peer_id and peer_id != own_id:
            message.peer_id, message.received = peer_id, received
    if event.contents is not None:
        if not event.is_chunk:
            message.parts.clear()
        for content in event.contents:
            _add_content(message, content)
    return changes


# --------------------------------------------------------------------------- the echo of the prompt


def _split_surrogates(text: str) -> str:
    """Replace characters beyond U+FFFF by surrogate pairs: agents may end a chunk in the middle of a pair."""
    return _ASTRAL.sub(
        lambda found: chr(0xD800 + (ord(found[0]) - 0x10000 >> 10)) + chr(0xDC00 + (ord(found[0]) & 0x3FF)),
        text,
    )


def expect_echo(session: Session, prompt: str) -> None:
    """Remember a prompt. If the agent repeats this prompt in a user message, the repetition is not shown."""
    memory = session.reducer_state
    memory.echo = _split_surrogates(prompt.strip())
    memory.echo_at = 0 if memory.echo else None


def _remove_echo(session: Session, text: str) -> str:
    """Return the text of a chunk without the prompt that the agent repeats.

    The prompt can be split into chunks. Text that could be the beginning of the prompt is held back. If the
    text turns out to be something else, it is returned with a later chunk.
    """
    memory = session.reducer_state
    at = memory.echo_at
    if at is None:
        return text
    text = _split_surrogates(text)
    if at == 0:
        text = text.lstrip()
    expected = memory.echo[at : at + len(text)]
    if not text.startswith(expected):
        memory.echo_at = None
        return memory.echo[:at] + text
    memory.echo_at = at + len(expected)
    rest = text[len(expected) :].lstrip()
    if rest:
        memory.echo_at = None
    return rest


def _echoes_content(session: Session, content: Content) -> bool:
    """Return True if the agent repeats a content block of the prompt."""
    start = session.reducer_state.turn_began
    if session.phase != "prompting" or start >= len(session.entries) or content.raw is not None:
        return False
    prompt = session.entries[start]
    return isinstance(prompt, UserMessage) and content in prompt.parts

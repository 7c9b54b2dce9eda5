"""What the exports share: the redacted session, the walk over its entries, and texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.kind import TextContext
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.protocol.translator import Fold
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.record import Record
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import AnnotatedText, Content, Entry, Session
from acp_tui.session.usage_text import format_money, tokens_words, total_tokens
from acp_tui.store.redaction import Redactor
from acp_tui.store.secret_patterns import redact_text
from acp_tui.store.session_title import session_name
from acp_tui.workspace.terminals.screen_buffer import PLAIN
from acp_tui.workspace.terminals.terminal_emulator import Line, TerminalEmulator

if TYPE_CHECKING:
    from acp_tui.entry_kinds.blocks import Block
    from acp_tui.session.terminal_text import TerminalText
    from acp_tui.store.stored_sessions import StoredSession


# --------------------------------------------------------------------------- the session


@dataclass(frozen=True, slots=True)
class SessionMetadata:
    """Details from the session's folder in the store.

    For a recording outside the store, `id` is the name of the file and the other details are empty.
    """

    id: str = ""
    agent: str = ""
    title: str = ""
    cwd: str = ""
    name: str = ""  # given by the user

    @classmethod
    def from_folder(cls, stored: StoredSession) -> SessionMetadata:
        """Read the details from the session's folder in the store."""
        return cls(
            stored.id,
            escape_line(stored.text("agent_title") or stored.text("agent") or ""),
            escape_line(stored.text("title") or ""),
            stored.text("cwd") or "",
            session_name(stored.meta),
        )


def build_redacted_session(records: Iterable[Record], is_sensitive: Callable[[str], object]) -> Session:
    """Return the session that these records describe, with secrets redacted.

    acp-tui redacts its own logs when it writes them, but a recording can come from another program. A secret
    that was split between two chunks can only be recognised here, where the chunks are joined.

    If `is_sensitive` is true for a path, the contents of the file at that path are left out.
    """
    redactor, state = Redactor(is_sensitive), Fold()
    for record in records:
        frame = redactor.redact(record.direction, record.frame)
        state.apply(record if frame is record.frame else Record(record.at, record.direction, frame))
    for session in (state.session, *(subagent.session for subagent in state.session.subagents.values())):
        for entry in session.entries:
            _redact_streamed_text(entry)
    return state.session


def _redact_streamed_text(entry: Entry) -> None:
    """Redact an entry's texts that arrived in chunks. Other texts were redacted with their records."""
    for field in dataclasses.fields(entry):
        value = getattr(entry, field.name)
        if isinstance(value, GrowingText):
            setattr(entry, field.name, _redact(value))
        elif isinstance(value, list):
            value[:] = [_redact(item) if isinstance(item, GrowingText) else item for item in value]


def _redact(text: GrowingText) -> GrowingText:
    original = str(text)
    redacted = redact_text(original)
    if redacted is original:
        return text
    clean = AnnotatedText(text.annotations) if isinstance(text, AnnotatedText) else GrowingText()
    clean.append(redacted)
    return clean


# --------------------------------------------------------------------------- the walk over the entries


def write_entries(
    session: Session,
    metadata: SessionMetadata,
    write: Callable[[Block, bool], str],
    write_failure: Callable[[str, str], str],
) -> Iterator[str]:
    """Yield the texts that `write` makes of the blocks of all entries.

    Args:
        session: The session.
        metadata: The details that the header shows.
        write: Called with each block, and whether its entry is withdrawn and shown dimmed.
        write_failure: Called with a note and the raw text of an entry that could not be written.
    """
    context = TextContext(session, working_folder(session, metadata))
    for entry in session.entries:
        kind = kind_of(entry)
        is_dimmed = entry.withdrawn and kind.dims_when_withdrawn
        try:
            texts = [write(block, is_dimmed) for block in kind.blocks(entry, context)]
        except Exception as error:  # an error in one entry must not prevent the export
            texts = [write_failure(failure_note(entry, error), raw_text(entry))]
        yield from texts


# --------------------------------------------------------------------------- texts


def header_facts(session: Session, metadata: SessionMetadata) -> list[tuple[str, str]]:
    """Return the lines of the header above the conversation, each as a label and a value."""
    agent = session.agent
    name = metadata.agent or (agent and (agent.title or agent.name)) or ""
    version = f" {agent.version}" if agent is not None and agent.version else ""
    at = next((entry.at for entry in session.entries), None)
    facts = [
        ("Agent", escape_line(f"{name}{version}" if name else "")),
        ("Folder", escape_line(working_folder(session, metadata))),
        ("Started", _minute(at) if at is not None else ""),
        ("Usage", _usage(session)),
        ("Session", escape_line(metadata.id)),
    ]
    return [(label, text) for label, text in facts if text]


def _usage(session: Session) -> str:
    cost = session.usage.cost
    spent = [format_money(cost.amount, escape_line(cost.currency))] if cost is not None else []
    tokens = tokens_words(total_tokens(turn.tokens for turn in session.turn_usages))
    return " · ".join(filter(None, (tokens, *spent)))


def agent_name(session: Session, metadata: SessionMetadata) -> str:
    agent = session.agent
    return escape_line(metadata.agent or (agent and (agent.title or agent.name)) or "Agent")


def document_title(session: Session, metadata: SessionMetadata) -> str:
    return escape_line(metadata.name or session.title or metadata.title) or "Conversation with an agent"


def working_folder(session: Session, metadata: SessionMetadata) -> str:
    return session.cwd or metadata.cwd


def _minute(at: float) -> str:
    # UTC, so that the same session gives the same document everywhere
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


def content_label(content: Content) -> str:
    """Return a one-line description of a content block."""
    parts = [content.title or content.name or "", content.mime or "", content.description or ""]
    if content.data is not None:
        parts.append(f"{len(content.data.rstrip('=')) * 3 // 4:,} bytes")
    elif content.size is not None:
        parts.append(f"{content.size:,} bytes")
    return escape_line(f"{content.kind}: {', '.join(part for part in parts if part)}".rstrip(": "))


def output_lines(output: TerminalText, *, styles: bool = True) -> Iterator[Line]:
    """Yield the lines of the output, redacted again, because a secret may have been split between chunks."""
    if not output.skipped:
        yield from _lines(output.head + output.tail, styles=styles)
        return
    yield from _lines(output.head, styles=styles)
    yield ((f"… {output.skipped:,} characters omitted …", PLAIN),)
    yield from _lines(output.tail, styles=styles)


def output_text(output: TerminalText) -> str:
    """Return the output as plain text."""
    lines = output_lines(output, styles=False)
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _lines(raw: str, *, styles: bool) -> Iterator[Line]:
    emulator = TerminalEmulator(styles=styles, head=1 << 62)  # keep all lines
    emulator.feed(raw)
    lines = emulator.lines
    while lines and not any(text.strip() for text, _ in lines[-1]):
        lines.pop()
    for line in lines:
        text = "".join(piece for piece, _ in line)
        redacted = redact_text(text)
        yield line if redacted == text else ((redacted, PLAIN),)

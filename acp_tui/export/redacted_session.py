"""A session rebuilt from its wire log, without secrets."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from acp_tui.protocol.fold import Fold
from acp_tui.session.record import Record
from acp_tui.session.state import AnnotatedText
from acp_tui.session.text.growing_text import GrowingText
from acp_tui.store.redaction import Redactor
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.session.state import Entry, Session


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

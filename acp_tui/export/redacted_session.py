"""Rebuild a session from its wire log, without secrets, for export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.protocol.fold import Fold
from acp_tui.session.record import Record
from acp_tui.session.state import Compaction, Message
from acp_tui.session.text import GrowingText
from acp_tui.store.redaction import Redactor
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.session.state import Session


def build_redacted_session(records: Iterable[Record], is_sensitive: Callable[[str], object]) -> Session:
    """Return the session that these records describe, with secrets redacted.

    acp-tui redacts its own logs when it writes them, but a recording may come from another program. A secret
    that was split between two chunks can only be recognised here, where the chunks are joined.
    """
    redactor, state = Redactor(is_sensitive), Fold()
    for record in records:
        frame = redactor.redact(record.direction, record.frame)
        state.apply(record if frame is record.frame else Record(record.at, record.direction, frame))
    for entry in state.session.entries:
        if isinstance(entry, Message):
            entry.parts = [_redact(part) if type(part) is GrowingText else part for part in entry.parts]
        elif isinstance(entry, Compaction):
            entry.summary = _redact(entry.summary)
    return state.session


def _redact(text: GrowingText) -> GrowingText:
    whole = str(text)
    clean = redact_text(whole)
    return text if clean is whole else GrowingText(clean)

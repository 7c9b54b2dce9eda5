"""From the log to the session that is exported."""

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
    """The session that these records give, without secrets.

    Our own logs have been redacted already, those of others have not. And a secret that came in two chunks
    is whole only here.
    """
    redactor, state = Redactor(is_sensitive), Fold()
    for record in records:
        frame = redactor.redact(record.direction, record.frame)
        state.apply(record if frame is record.frame else Record(record.at, record.direction, frame))
    for entry in state.session.entries:
        if isinstance(entry, Message):
            entry.parts = [_clean(part) if type(part) is GrowingText else part for part in entry.parts]
        elif isinstance(entry, Compaction):
            entry.summary = _clean(entry.summary)
    return state.session


def _clean(text: GrowingText) -> GrowingText:
    whole = str(text)
    clean = redact_text(whole)
    return text if clean is whole else GrowingText(clean)

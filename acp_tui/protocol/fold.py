"""Folds records into the state of a session, live or from a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.protocol.translator import Translator
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record


class Fold:
    """The state of one conversation, updated record by record."""

    def __init__(self) -> None:
        self.session = Session()
        self.events: list[Event] = []
        """The events of the record that was applied last."""
        self._translator = Translator()

    def apply(self, record: Record) -> list[Change]:
        """Apply a record and return the changes to `session`."""
        changes: list[Change] = []
        self.events = self._translator.translate(record)
        for event in self.events:
            changes += reduce(self.session, event, record.at)
        return changes


def fold(records: Iterable[Record]) -> Session:
    """Return the session that results from these records."""
    state = Fold()
    for record in records:
        state.apply(record)
    return state.session

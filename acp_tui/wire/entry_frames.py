"""Which frames of a log made which entry of the transcript.

The log is folded again, as when a session is reopened, and each change of an entry is noted.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.protocol.translator import Translator
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_tui.session.record import Change, Record
    from acp_tui.session.state import Entry


class EntryPlace(NamedTuple):
    """Where an entry is: in the transcript of the conversation, or in that of a subagent."""

    subagent: str  # the subagent's key; empty for the conversation
    entry: int  # the entry's id


class EntryFrames:
    """Maps entries to the numbers of the frames that made or changed them, and back."""

    def __init__(self) -> None:
        self._session = Session()
        self._translator = Translator()
        self._frames: dict[int, tuple[Entry, array[int]]] = {}  # by the identity of the entry
        self._first: dict[int, Entry] = {}  # the entry to show for a frame, by the number of the frame

    def add(self, number: int, record: Record) -> None:
        """Apply the record with this number. Numbers must increase."""
        changes: list[Change] = []
        for event in self._translator.translate(record):
            changes += reduce(self._session, event, record.at)
            replay = self._session.reducer_state.replay
            if replay is not None:
                # A history that the agent replays is collected, and becomes visible later or never.
                changes += replay.changes
                replay.changes = []
        shown: Entry | None = None
        was_added = False
        for kind, entry in _entries(changes):
            _, frames = self._frames.setdefault(id(entry), (entry, array("q")))
            if not frames or frames[-1] != number:
                frames.append(number)
            if shown is None or (kind == "added" and not was_added):
                shown, was_added = entry, kind == "added"
        if shown is not None:
            self._first[number] = shown

    def frames_of(self, place: EntryPlace) -> list[int]:
        """Return the numbers of the frames that made or changed an entry; none if there is no such entry."""
        session = self._session_of(place.subagent)
        if session is None or not 0 <= place.entry < len(session.entries):
            return []
        found = self._frames.get(id(session.entries[place.entry]))
        return list(found[1]) if found is not None else []

    def frames_of_subagent(self, key: str) -> list[int]:
        """Return the numbers of the frames that made or changed a subagent or an entry of its transcript."""
        subagent = self._session.subagents.get(key)
        if subagent is None:
            return []
        entries = [subagent, *subagent.session.entries]
        return sorted({frame for entry in entries for frame in self._frames.get(id(entry), (entry, ()))[1]})

    def entry_of(self, number: int) -> EntryPlace | None:
        """Return the entry that a frame made or changed; None if it changed none that is still shown.

        Of several entries, this is the one that it added, if it added one.
        """
        entry = self._first.get(number)
        if entry is None:
            return None
        return next((place for place in self._places(entry.id) if self._entry_at(place) is entry), None)

    def _places(self, entry_id: int) -> Iterator[EntryPlace]:
        return (EntryPlace(key, entry_id) for key in ("", *self._session.subagents))

    def _entry_at(self, place: EntryPlace) -> Entry | None:
        session = self._session_of(place.subagent)
        if session is None or not 0 <= place.entry < len(session.entries):
            return None
        return session.entries[place.entry]

    def _session_of(self, subagent: str) -> Session | None:
        if not subagent:
            return self._session
        known = self._session.subagents.get(subagent)
        return known.session if known is not None else None


def _entries(changes: Iterable[Change]) -> Iterator[tuple[str, Entry]]:
    """Yield the kinds of changes with the entries that changed, those of subagents first."""
    outer: list[tuple[str, Entry]] = []
    for change in changes:
        depth, inner = 0, change
        while inner.inner is not None:
            depth, inner = depth + 1, inner.inner
        if inner.entry is None:
            continue
        if depth:
            yield inner.kind, inner.entry
        else:
            outer.append((inner.kind, inner.entry))
    yield from outer

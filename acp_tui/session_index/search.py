"""Searches the index. A search takes milliseconds; callers run it in a thread and can interrupt it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session_index.database import (
    POSITION_BITS,
    index_error,
    index_file,
    open_for_reading,
)
from acp_tui.session_index.index_update import decompress
from acp_tui.session_index.query import Hit, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator
    from pathlib import Path

MAX_CANDIDATES = 120
"""The maximum number of matching entries to rank. If more entries match, only the newest are ranked."""
MAX_SCANNED = 50_000
"""How many matching entries, newest first, are checked for whether they belong to the wanted sessions."""
MAX_HITS = 50
MAX_HITS_PER_SESSION = 3
HALF_LIFE_SECONDS = 30 * 86_400.0
"""The age at which a match counts half as much as a new one."""


@dataclass(frozen=True, slots=True)
class SessionHit:
    """An entry that a search found, and the entry's matching line."""

    folder: str  # the session's id
    position: int  # the entry's position in the session
    hit: Hit


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the index knows about a session."""

    turns: int
    changed_files: int
    first_prompt: str
    can_fork: bool  # its agent offers to fork sessions


class SessionSearch:
    """Reads the index in one cache directory."""

    def __init__(self, cache: Path, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def search(self, text: str, only: Collection[str] | None = None) -> list[SessionHit]:
        """Return up to `MAX_HITS` entries that match `text`, the best match first.

        Newer entries, entries with more matches, and entries with the whole phrase rank higher. `only` holds
        the ids of the sessions to search; if `only` is None, all sessions are searched. Returns an empty list
        if there is no index yet or `text` has no words.

        Raises:
            IndexDamagedError: The index has to be rebuilt.
            SearchUnavailableError: SQLite has no FTS5.
            InterruptedError: `interrupt` was called.
        """
        query = Query.parse(text)
        if not query.words:
            return []
        try:
            return self._search(query, only)
        except sqlite3.DatabaseError as error:
            if str(error) == "interrupted":
                raise InterruptedError from error
            raise index_error(error) from error

    def facts(self) -> dict[str, SessionFacts]:
        """Return what the index knows about sessions, by session id; empty if the index cannot be read."""
        with suppress(sqlite3.DatabaseError, UserError):
            if (connection := self._open()) is not None:
                rows = connection.execute(
                    "SELECT folder, turns, changed_files, first_prompt, can_fork FROM sessions"
                )
                return {
                    folder: SessionFacts(turns, files, prompt, bool(can_fork))
                    for folder, turns, files, prompt, can_fork in rows
                }
        return {}

    def interrupt(self) -> None:
        """Interrupt a running search: it then raises `InterruptedError`. Call this from another thread."""
        if self._connection is not None:
            with suppress(sqlite3.ProgrammingError):  # closed meanwhile
                self._connection.interrupt()

    def close(self) -> None:
        """Close the index file. A later search opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _search(self, query: Query, only: Collection[str] | None) -> list[SessionHit]:
        if (connection := self._open()) is None:
            return []
        connection.execute("BEGIN")  # all queries see the same state while another process updates the index
        try:
            return self._ranked_hits(connection, query, only)
        finally:
            connection.rollback()

    def _ranked_hits(
        self, connection: sqlite3.Connection, query: Query, only: Collection[str] | None
    ) -> list[SessionHit]:
        folders = dict(connection.execute("SELECT number, folder FROM sessions"))
        if only is not None:
            folders = {number: folder for number, folder in folders.items() if folder in only}
        now, ranked = self._clock(), []
        for number in _candidates(connection, query, folders):
            (data,) = connection.execute("SELECT text FROM entries WHERE number = ?", (number,)).fetchone()
            text = decompress(data)
            age = max(0.0, now - (number >> POSITION_BITS))
            ranked.append((query.relevance(text) * 0.5 ** (age / HALF_LIFE_SECONDS), number, text))
        ranked.sort(reverse=True)
        return list(islice(_hits(query, folders, ranked), MAX_HITS))

    def _open(self) -> sqlite3.Connection | None:
        """Return an open connection to the current index file; None if there is no file."""
        try:
            inode = index_file(self._cache).stat().st_ino
        except OSError:
            self.close()
            return None
        if self._connection is None or inode != self._inode:
            self.close()
            self._connection, self._inode = open_for_reading(self._cache), inode
        return self._connection


def _candidates(connection: sqlite3.Connection, query: Query, sessions: Container[int]) -> list[int]:
    """Return the row ids of the newest entries that match the query and belong to one of `sessions`."""
    rows = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC", (query.match_expression(),)
    )
    numbers = (number for (number,) in islice(rows, MAX_SCANNED) if number >> POSITION_BITS in sessions)
    return list(islice(numbers, MAX_CANDIDATES))


def _hits(
    query: Query, folders: dict[int, str], ranked: list[tuple[float, int, str]]
) -> Iterator[SessionHit]:
    counts: dict[int, int] = {}
    for _, number, text in ranked:
        session = number >> POSITION_BITS
        counts[session] = counts.get(session, 0) + 1
        if counts[session] <= MAX_HITS_PER_SESSION:
            position = number & ((1 << POSITION_BITS) - 1)
            yield SessionHit(folders[session], position, query.hit(text))

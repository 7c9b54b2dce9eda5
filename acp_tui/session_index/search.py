"""Searches the index. A search takes milliseconds and runs in a thread; a newer one interrupts it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session_index.database import (
    POSITION_BITS,
    IndexDamagedError,
    index_error,
    index_file,
    open_for_reading,
)
from acp_tui.session_index.index_update import decompress
from acp_tui.session_index.query import Hit, Query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_CANDIDATES = 120
"""The number of matching entries, the newest first, that are ranked."""
MAX_HITS = 50
MAX_HITS_PER_SESSION = 3
HALF_LIFE_SECONDS = 30 * 86_400.0
"""A match this old counts half."""


@dataclass(frozen=True, slots=True)
class SessionHit:
    """An entry that matches."""

    folder: str  # the session's id
    position: int  # the entry's position in the session
    hit: Hit


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the index knows about a session."""

    turns: int
    changed_files: int
    first_prompt: str


class SessionSearch:
    """Reads the index of one cache directory."""

    def __init__(self, cache: Path, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def search(self, text: str) -> list[SessionHit]:
        """Return the matching entries, the best first; none if there is no index yet or nothing was typed.

        Newer entries rank higher, as do those with more matches or with the typed phrase.

        Raises:
            IndexDamagedError: The index has to be made again.
            SearchUnavailableError: SQLite has no FTS5.
            InterruptedError: `interrupt` was called.
        """
        query = Query.parse(text)
        if not query.words:
            return []
        try:
            return self._search(query)
        except sqlite3.DatabaseError as error:
            if str(error) == "interrupted":
                raise InterruptedError from error
            raise index_error(error) from error

    def facts(self) -> dict[str, SessionFacts]:
        """Return what the index knows about the sessions, by their ids; nothing if it cannot be read."""
        with suppress(sqlite3.DatabaseError):
            if (connection := self._open()) is not None:
                rows = connection.execute("SELECT folder, turns, changed_files, first_prompt FROM sessions")
                return {folder: SessionFacts(*facts) for folder, *facts in rows}
        return {}

    def interrupt(self) -> None:
        """End a running search, from another thread."""
        if self._connection is not None:
            with suppress(sqlite3.ProgrammingError):  # closed meanwhile
                self._connection.interrupt()

    def close(self) -> None:
        """Close the file. A later search opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _search(self, query: Query) -> list[SessionHit]:
        if (connection := self._open()) is None:
            return []
        rows = connection.execute(
            "SELECT number, text FROM entries WHERE number IN ("
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)",
            (query.match_expression(), MAX_CANDIDATES),
        ).fetchall()
        now, ranked = self._clock(), []
        for number, data in rows:
            text = decompress(data)
            age = max(0.0, now - (number >> POSITION_BITS))
            ranked.append((query.relevance(text) * 0.5 ** (age / HALF_LIFE_SECONDS), number, text))
        ranked.sort(reverse=True)
        return self._hits(connection, query, ranked)

    def _hits(
        self, connection: sqlite3.Connection, query: Query, ranked: list[tuple[float, int, str]]
    ) -> list[SessionHit]:
        hits: list[SessionHit] = []
        folders: dict[int, str] = {}
        counts: dict[int, int] = {}
        for _, number, text in ranked:
            session = number >> POSITION_BITS
            counts[session] = counts.get(session, 0) + 1
            if counts[session] > MAX_HITS_PER_SESSION:
                continue
            if session not in folders:
                row = connection.execute(
                    "SELECT folder FROM sessions WHERE number = ?", (session,)
                ).fetchone()
                if row is None:
                    raise IndexDamagedError("an entry belongs to no session")
                folders[session] = row[0]
            position = number & ((1 << POSITION_BITS) - 1)
            hits.append(SessionHit(folders[session], position, query.hit(text)))
            if len(hits) == MAX_HITS:
                break
        return hits

    def _open(self) -> sqlite3.Connection | None:
        """Return the open index. It is opened again if it was replaced."""
        try:
            inode = index_file(self._cache).stat().st_ino
        except OSError:
            self.close()
            return None
        if self._connection is None or inode != self._inode:
            self.close()
            self._connection, self._inode = open_for_reading(self._cache), inode
        return self._connection

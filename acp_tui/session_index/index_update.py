"""Updates the index from the logs in the session folders."""

from __future__ import annotations

import sqlite3
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session_index.database import (
    POSITION_BITS,
    IndexDamagedError,
    index_error,
    older_files,
    open_for_writing,
    remove_from_segments,
    remove_index,
)
from acp_tui.session_index.session_texts import session_texts
from acp_tui.session_index.words import plain, words_of
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from acp_tui.session_index.session_texts import SessionTexts
    from acp_tui.store.stored_sessions import StoredSession

COMMIT_SECONDS = 1.0
"""Seconds between two commits. Searches find indexed sessions only after the next commit."""


@dataclass(frozen=True, slots=True)
class LogState:
    """The size and modification time of a log. If either differs from the index, the log has changed."""

    size: int
    time: int


def update_index(cache: Path, data_dir: Path, on_progress: Callable[[int, int], None]) -> None:
    """Index new and changed sessions, the newest first, and remove deleted ones.

    A damaged index is rebuilt. Only one process may call this at a time.

    Args:
        cache: The cache directory, which holds the index.
        data_dir: The data directory, which holds the sessions.
        on_progress: Called with two numbers: of the sessions indexed so far, and of all sessions to index.

    Raises:
        SearchUnavailableError: SQLite has no FTS5.
        UserError: SQLite cannot read or write the index.
        OSError: A file of the index cannot be created or deleted.
    """
    for path in older_files(cache):
        path.unlink(missing_ok=True)
    try:
        _update(cache, data_dir, on_progress)
    except IndexDamagedError:
        remove_index(cache)
        _update(cache, data_dir, on_progress)


def _update(cache: Path, data_dir: Path, on_progress: Callable[[int, int], None]) -> None:
    connection = open_for_writing(cache)
    try:
        _IndexWriter(connection).update(list_sessions(data_dir), on_progress)
    except sqlite3.DatabaseError as error:
        raise index_error(error) from error
    finally:
        connection.close()


class _IndexWriter:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT folder, number, log_size, log_time FROM sessions")
        self._numbers: dict[str, int] = {}
        self._indexed: dict[str, LogState] = {}
        for folder, number, size, moment in rows:
            self._numbers[folder] = number
            self._indexed[folder] = LogState(size, moment)
        self._used_numbers = set(self._numbers.values())

    def update(self, sessions: list[StoredSession], on_progress: Callable[[int, int], None]) -> None:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        gone = self._numbers.keys() - {session.id for session in sessions}
        if gone:
            remove_from_segments(self._connection)
        for folder in gone:
            self._remove(folder)
        if gone:
            # Words of deleted entries would stay in the file until their segments happen to be merged.
            execute("INSERT INTO words(words) VALUES ('optimize')")
        execute("COMMIT")
        if gone:
            execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._add_changed(list(self._changed(sessions)), on_progress)

    def _add_changed(
        self, changed: list[tuple[StoredSession, LogState]], on_progress: Callable[[int, int], None]
    ) -> None:
        execute = self._connection.execute
        on_progress(0, len(changed))
        execute("BEGIN IMMEDIATE")
        committed_at = time.monotonic()
        for done, (session, state) in enumerate(changed, start=1):
            content = session_texts(session.records())
            self._remove(session.id)
            self._add(session, state, content)
            if time.monotonic() - committed_at > COMMIT_SECONDS or done == len(changed):
                execute("COMMIT")
                on_progress(done, len(changed))
                execute("BEGIN IMMEDIATE")
                committed_at = time.monotonic()
        execute("COMMIT")

    def _changed(self, sessions: list[StoredSession]) -> Iterator[tuple[StoredSession, LogState]]:
        for session in sessions:
            if session.fault:
                continue
            try:
                status = session.wire.stat()
            except OSError:
                continue  # no log yet, or deleted meanwhile
            # The state is read before the log: what is appended meanwhile is indexed the next time.
            state = LogState(status.st_size, status.st_mtime_ns)
            if self._indexed.get(session.id) != state:
                yield session, state

    def _remove(self, folder: str) -> None:
        number = self._numbers.pop(folder, None)
        if number is None:
            return
        self._used_numbers.discard(number)
        bounds = number << POSITION_BITS, (number + 1) << POSITION_BITS
        execute = self._connection.execute
        rows = execute("SELECT number, text FROM entries WHERE number >= ? AND number < ?", bounds).fetchall()
        for entry, data in rows:
            # To remove an entry, FTS5 needs its text, which the index does not store.
            execute(
                "INSERT INTO words(words, rowid, text) VALUES ('delete', ?, ?)",
                (entry, _words(decompress(data))),
            )
        execute("DELETE FROM entries WHERE number >= ? AND number < ?", bounds)
        execute("DELETE FROM sessions WHERE number = ?", (number,))

    def _add(self, session: StoredSession, state: LogState, content: SessionTexts) -> None:
        number = max(0, int(session.updated))
        while number in self._used_numbers:
            number += 1
        self._used_numbers.add(number)
        self._numbers[session.id] = number
        execute = self._connection.execute
        for position, text in content.texts:
            entry = number << POSITION_BITS | position
            execute("INSERT INTO entries VALUES (?, ?)", (entry, compress(text)))
            execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (entry, _words(text)))
        execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                session.id,
                state.size,
                state.time,
                content.turns,
                content.changed_files,
                content.first_prompt,
                content.can_fork,
            ),
        )


def _words(text: str) -> str:
    return " ".join(words_of(plain(text)))


def compress(text: str) -> bytes:
    """Return the compressed form in which a text is stored in the index."""
    return zlib.compress(text.encode(), 1)


def decompress(data: bytes) -> str:
    """Return the text that `compress` was given."""
    return zlib.decompress(data).decode()

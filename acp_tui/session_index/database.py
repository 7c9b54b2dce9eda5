"""Creates, opens and deletes the SQLite file of the index, and recognises damage."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from acp_tui.config.own_files import UnusableFileError, check_own, open_own
from acp_tui.config.paths import private_directory
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 2
"""The version of the index's tables and of how texts are stored in them. It is part of the file's name."""
BUSY_SECONDS = 10.0
"""Seconds to wait while another process writes to the index. After that, SQLite reports an error."""
POSITION_BITS = 24
"""The number of low bits of an entry's number that hold its position in the session.

The other bits hold the session's number.
"""

_TABLES = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,  -- time of the last activity, made unique: newer sessions sort last
    folder TEXT NOT NULL UNIQUE,
    log_size INTEGER NOT NULL,
    log_time INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    changed_files INTEGER NOT NULL,
    first_prompt TEXT NOT NULL,
    can_fork INTEGER NOT NULL
);
CREATE TABLE entries (number INTEGER PRIMARY KEY, text BLOB NOT NULL);  -- compressed
-- `words_of` splits the texts. The positions of words are not stored (`detail=none`): with them, the index
-- would be twice as large.
CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, prefix='1 2 3', tokenize=ascii);
"""


class SearchUnavailableError(UserError):
    """This Python's SQLite has no full-text search (FTS5)."""


class IndexDamagedError(Exception):
    """The index cannot be read and has to be rebuilt."""


def index_file(cache: Path) -> Path:
    """Return the path of the index in the cache directory, whether or not the file exists."""
    return cache / f"sessions-{FORMAT}.sqlite"


def open_for_writing(cache: Path) -> sqlite3.Connection:
    """Open the index. If it is missing, create it as a file that only the user can read.

    Raises:
        SearchUnavailableError: SQLite has no FTS5.
        IndexDamagedError: The file is damaged.
        UserError: SQLite cannot use the index for another reason, such as a full disk.
        OSError: The cache directory or the file cannot be created.
    """
    private_directory(cache)
    path = index_file(cache)
    try:
        os.close(open_own(path, os.O_RDWR | os.O_CREAT))  # SQLite gives its other files the same mode
        connection = _connect(path)
    except UnusableFileError as error:
        raise _unusable(error) from None
    except sqlite3.DatabaseError as error:
        raise index_error(error) from error
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
        connection.execute("SELECT 1 FROM sessions, entries, words LIMIT 0")  # fails if a table is missing
    except sqlite3.DatabaseError as error:
        connection.close()
        raise index_error(error) from error
    return connection


def open_for_reading(cache: Path) -> sqlite3.Connection | None:
    """Open the index; return None if there is none yet. The connection can be used in any thread.

    Raises `UserError` if the index is not a file.
    """
    path = index_file(cache)
    if not path.exists():
        return None
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


def remove_index(cache: Path) -> None:
    """Delete the index and all indexes that earlier versions of acp-tui made."""
    for path in [*_files(index_file(cache)), *older_files(cache)]:
        path.unlink(missing_ok=True)


def older_files(cache: Path) -> list[Path]:
    """Return the existing index files of earlier versions of acp-tui."""
    names = [f"sessions-{number}.sqlite" for number in range(1, FORMAT)]
    return [path for name in names for path in _files(cache / name) if path.exists()]


def index_error(error: sqlite3.DatabaseError) -> Exception:
    """Return the exception to raise for an error of SQLite.

    `SearchUnavailableError` if FTS5 is missing, `IndexDamagedError` if the file is damaged, otherwise
    `UserError`, e.g. for a full disk.
    """
    message = str(error)
    if "no such module" in message:
        return SearchUnavailableError(
            "Full-text search is not available: this Python's SQLite has no FTS5. "
            "Only titles can be searched."
        )
    if isinstance(error, sqlite3.OperationalError) and "no such" not in message:
        return UserError(f"The index of sessions cannot be used: {message}.")
    return IndexDamagedError(message)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        check_own(path)
    except UnusableFileError as error:
        raise _unusable(error) from None
    return sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)


def _unusable(error: UnusableFileError) -> UserError:
    return UserError(f"The index of sessions cannot be used: {error.clause}.")


def _files(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))]


def remove_from_segments(connection: sqlite3.Connection) -> None:
    """Make SQLite remove deleted words from the index at once. Has no effect before SQLite 3.42."""
    with suppress(sqlite3.DatabaseError):
        connection.execute("INSERT INTO words(words, rank) VALUES ('secure-delete', 1)")

"""The full-text index of recorded sessions: an SQLite FTS5 database, made from their logs."""

from __future__ import annotations

import os
import re
import sqlite3
import time
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.own_files import UnusableFileError, check_own, open_own
from acp_tui.config.paths import private_directory
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.entry_kinds.tool_call import changed_paths
from acp_tui.errors import UserError
from acp_tui.protocol.translator import fold
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.store.stored_sessions import StoredSession, list_sessions

if TYPE_CHECKING:
    from acp_tui.session.record import Record
    from acp_tui.session.state import Entry, Session


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
MAX_ENTRY_CHARACTERS = 40_000
"""The maximum length of an entry's text in the index. The middle of a longer text is omitted."""
MAX_PROMPT_CHARACTERS = 200
_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
COMMIT_SECONDS = 1.0
"""Seconds between two commits. Searches find indexed sessions only after the next commit."""


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


@dataclass(frozen=True, slots=True)
class SessionTexts:
    """The indexed content of a session."""

    turns: int
    changed_files: int
    first_prompt: str  # on one line, shortened
    can_fork: bool  # the agent offers to fork sessions
    texts: list[tuple[int, str]]  # the entries' positions in the session, with their texts


def session_texts(records: Iterable[Record]) -> SessionTexts:
    """Rebuild a session from its log records, as a replay does, and return what goes into the index."""
    session = fold(records)
    texts = ((entry.id, _shortened(_text(entry, session))) for entry in session.entries)
    prompts = session.prompts
    return SessionTexts(
        turns=len(prompts),
        changed_files=len({path for call in session.tool_calls.values() for path in changed_paths(call)}),
        first_prompt=escape_line(prompts[0].text[:MAX_PROMPT_CHARACTERS]) if prompts else "",
        can_fork=session.agent is not None and session.agent.can("sessionCapabilities", "fork"),
        texts=[(position, text) for position, text in texts if text],
    )


def _text(entry: Entry, session: Session) -> str:
    return escape_controls(kind_of(entry).searched_text(entry, session)).strip()


def _shortened(text: str) -> str:
    if len(text) <= MAX_ENTRY_CHARACTERS:
        return text
    half = MAX_ENTRY_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def plain(text: str) -> str:
    """Return text in lower case without accents, the form in which words are compared."""
    lower = text.lower()
    if lower.isascii():
        return lower
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFD", lower))
    return unicodedata.normalize("NFC", decomposed)


def words_of(plain_text: str) -> list[str]:
    """Split text made by `plain` into words: runs of letters and digits.

    Each common Chinese, Japanese or Korean character is a separate word, because such texts often have no
    spaces.
    """
    if not plain_text.isascii():
        plain_text = _CJK.sub(r" \1 ", plain_text)
    return _WORD.findall(plain_text)


def is_cjk(word: str) -> bool:
    """Return True if a word is a single common Chinese, Japanese or Korean character."""
    return _CJK.fullmatch(word) is not None


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
    """Return the compressed form in which text is stored in the index."""
    return zlib.compress(text.encode(), 1)


def decompress(data: bytes) -> str:
    """Return the text that `compress` was given."""
    return zlib.decompress(data).decode()

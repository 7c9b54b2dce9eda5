"""Searches the index. A search takes milliseconds; callers run it in a thread and can interrupt it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from acp_tui.errors import UserError
from acp_tui.session_list.search_index import (
    POSITION_BITS,
    decompress,
    index_error,
    index_file,
    is_cjk,
    open_for_reading,
    plain,
    words_of,
)

MAX_WORDS = 12
"""The maximum number of words in a query. Further words are ignored."""
MAX_LINE_CHARACTERS = 160
"""The maximum length of a matching line. Longer ones are shortened around the match."""
MAX_MATCHES = 40
"""To find the best line of an entry, at most this many matches of each word are considered."""
TYPICAL_CHARACTERS = 600
"""The length of a typical entry, in characters. The longer an entry is, the less a match in it counts."""
MAX_COUNT = 20
"""The maximum number of matches of one word that count for the rank of an entry."""
MAX_CANDIDATES = 120
"""The maximum number of matching entries to rank. If more entries match, only the newest are ranked."""
MAX_SCANNED = 50_000
"""How many matching entries, newest first, are checked for whether they belong to the wanted sessions."""
MAX_HITS = 50
MAX_HITS_PER_SESSION = 3
HALF_LIFE_SECONDS = 30 * 86_400.0
"""The age at which a match counts half as much as a new one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: one line of an entry, and the matches in the line."""

    line: str
    spans: list[tuple[int, int]]  # the matches in the line
    needle: str  # what to search for in the transcript, so that the match is shown there


@dataclass(frozen=True, slots=True)
class Query:
    """What the user searches for. Each word of the query must be the beginning of some word in an entry."""

    phrase: str  # as typed, in lower case and without the outer white space
    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Query:
        """Make a query from what the user typed. Characters other than letters and digits separate words."""
        typed = plain(text)
        return cls(" ".join(typed.split()), tuple(dict.fromkeys(words_of(typed)))[:MAX_WORDS])

    def match_expression(self) -> str:
        """Return the query in FTS5 syntax. Nothing needs escaping: words contain only letters and digits."""
        return " AND ".join(f'"{word}"*' for word in self.words)

    def relevance(self, text: str) -> float:
        """Return a score: BM25 without extra weight for rare words, plus a bonus for the whole phrase."""
        compared = plain(text)
        length = 0.25 + 0.75 * len(compared) / TYPICAL_CHARACTERS
        counts = (min(compared.count(word), MAX_COUNT) for word in self.words)
        score = sum(count * 2.2 / (count + 1.2 * length) for count in counts)
        return score + (len(self.words) if self.phrase in compared else 0.0)

    def hit(self, text: str) -> Hit:
        """Return the first line with the whole phrase, or else the line with the most words of the query.

        Of each word, only the first `MAX_MATCHES` matches are considered.
        """
        compared = plain(text)
        if len(compared) != len(text):  # positions in `compared` do not fit `text`
            text = compared
        if (at := next(_occurrences(compared, self.phrase), -1)) >= 0:
            return self._hit_in(_line_at(text, at))
        words: dict[int, int] = {}  # how many of `self.words` each line has, by the line's start
        for word in self.words:
            found = islice(_occurrences(compared, word), MAX_MATCHES)
            starts = {compared.rfind("\n", 0, at) + 1 for at in found}
            for start in starts:
                words[start] = words.get(start, 0) + 1
        best = min(words, key=lambda start: (-words[start], start), default=0)
        return self._hit_in(_line_at(text, best))

    def _hit_in(self, line: str) -> Hit:
        line = " ".join(line.split())
        compared = plain(line)
        if (start := next(_occurrences(compared, self.phrase), -1)) >= 0:
            spans = [(start, start + len(self.phrase))]
        else:
            found = [(at, at + len(word)) for word in self.words for at in _occurrences(compared, word)]
            spans = _merged(found)
        if not spans or len(compared) != len(line):
            return Hit(line[:MAX_LINE_CHARACTERS], [], "")
        first, end = spans[0]
        cut = max(0, min(first - MAX_LINE_CHARACTERS // 4, len(line) - MAX_LINE_CHARACTERS))
        lead = "…" if cut else ""
        shift = len(lead) - cut
        shown = f"{lead}{line[cut : cut + MAX_LINE_CHARACTERS]}"
        inside = [(at + shift, min(to + shift, len(shown))) for at, to in spans if at + shift < len(shown)]
        return Hit(shown, inside, line[first:end])


def _occurrences(text: str, word: str) -> Iterator[int]:
    """Yield the positions in `text` where a word begins with `word`.

    A Chinese, Japanese or Korean character is found anywhere, because it is a word of its own.
    """
    anywhere = is_cjk(word[0]) or not word[0].isalnum()
    at = text.find(word)
    while at >= 0:
        if anywhere or at == 0 or not text[at - 1].isalnum():
            yield at
        at = text.find(word, at + 1)


def _line_at(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


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

"""Makes an FTS5 query from the words that the user typed, and finds the best matching line of a text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.session_index.words import is_cjk, plain, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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

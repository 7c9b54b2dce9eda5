"""Finds the files that match the typed text, best first, in small steps so that typing is never delayed.

Each pass searches for one kind of match, best kind first. Worse kinds are tried only if there are too few
matches. Each step checks up to `PATHS_PER_STEP` paths in about a millisecond.
"""

from __future__ import annotations

import re
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Filter = Callable[[Sequence[int], Sequence[str], Sequence[str]], list[int]]
    """Gets the indexes, paths and base names of files, and returns the indexes of those that match."""

MAX_HITS = 100
"""Maximum number of matches."""
PATHS_PER_STEP = 2000
ALL, MANY, FEW = 1 << 30, 5000, 1000
"""The numbers of matches after which a pass ends. Passes for poor matches need not find all matches."""


class FileIndex(Protocol):
    """The files found so far. The three lists grow together; `paths` is extended last."""

    bases: list[str]
    lower: list[str]
    paths: list[str]
    changed: set[str]
    missing: set[str]
    complete: bool


class FileSearch:
    """A search among files. `before` is the previous search, whose matches can be narrowed down."""

    def __init__(self, files: FileIndex, wanted: str, before: FileSearch | None = None) -> None:
        self.files = files
        self.wanted = wanted.lower()
        self.size = len(files.paths)
        """The number of paths to search; more may have been found since."""
        self.hits: list[int] = []
        """Indexes of the matches so far, best first."""
        self.done = False
        self._found_all = False  # `hits` holds every match
        self._candidates: Sequence[int] = range(self.size)
        if before is not None and before._covers(self):
            self._candidates = before.hits
        self._steps = self._search()

    def _covers(self, later: FileSearch) -> bool:
        """Return True if this search has found all files that the later search can match."""
        return (
            self._found_all
            and self.files is later.files
            and self.size == later.size
            and later.wanted.startswith(self.wanted)
        )

    def step(self) -> bool:
        """Search a few more paths; return False when the search is complete."""
        self.done = next(self._steps, True)
        return not self.done

    def finish(self) -> None:
        """Run all remaining steps."""
        while self.step():
            pass

    def _search(self) -> Iterator[bool]:
        for matches, enough in _passes(self.wanted, self.files.changed):
            found: list[int] = []
            better = self.hits
            known = set(better)
            room = MAX_HITS - len(better)
            count = 0
            for start in range(0, len(self._candidates), PATHS_PER_STEP):
                new = self._filter(matches, self._candidates[start : start + PATHS_PER_STEP], known)
                if new:
                    found = nsmallest(room, [*found, *new], key=self._rank)
                    self.hits = better + found
                    count += len(new)
                yield False
                if count >= enough:
                    break
            if len(self.hits) >= MAX_HITS:
                return
        self._found_all = True

    def _filter(self, matches: Filter, indexes: Sequence[int], known: Collection[int]) -> list[int]:
        files = self.files
        if isinstance(indexes, range):
            part = slice(indexes.start, indexes.stop)
            found = matches(indexes, files.lower[part], files.bases[part])
        else:
            found = matches(indexes, [files.lower[n] for n in indexes], [files.bases[n] for n in indexes])
        if known or files.missing:
            return [n for n in found if n not in known and files.paths[n] not in files.missing]
        return found

    def _rank(self, index: int) -> tuple[bool, bool, bool, int, int]:
        """Return a file's sort key: changed files first, then name matches, word starts, short paths."""
        files, base = self.files, self.files.bases[index]
        at = base.find(self.wanted)
        inside_word = at > 0 and base[at - 1].isalnum()
        is_unchanged = files.paths[index] not in files.changed
        return is_unchanged, at < 0, inside_word, len(files.lower[index]), index


def _passes(wanted: str, changed: Collection[str]) -> Iterator[tuple[Filter, int]]:
    """Yield the filter of each pass, and the number of matches after which the pass ends.

    The best kind of match comes first. If the typed text contains a slash, the first pass compares the text
    with the start of the path, otherwise with the start of the base name. Without typed text, the first pass
    finds changed files.
    """
    if not wanted:
        folded = {path.lower() for path in changed}
        yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if p in folded], MANY
        yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if _at_top(p)], MANY
        yield lambda ids, _, __: list(ids), MAX_HITS
        return
    if "/" in wanted:
        yield (
            lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if p.startswith(wanted)],
            MANY,
        )
    else:
        yield (
            lambda ids, _, bases: [n for n, b in zip(ids, bases, strict=True) if b.startswith(wanted)],
            ALL,
        )
        yield lambda ids, _, bases: [n for n, b in zip(ids, bases, strict=True) if wanted in b], MANY
    yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if wanted in p], MANY
    matches = _in_order(wanted)
    yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if matches(p)], FEW


def _at_top(path: str) -> bool:
    return path.find("/", 0, -1) < 0


def _in_order(wanted: str) -> Callable[[str], re.Match[str] | None]:
    """Return a function that checks in linear time if a path has the wanted characters in this order."""
    return re.compile("".join(f"[^{re.escape(char)}]*+{re.escape(char)}" for char in wanted), re.DOTALL).match


class Hit(NamedTuple):
    """A matching path, and the indexes of its matched characters."""

    path: str
    positions: frozenset[int]


def locate_match(path: str, wanted: str) -> Hit:
    """Return a path with the indexes of the characters that match `wanted`."""
    low, wanted = path.lower(), wanted.lower()
    start = 0 if "/" in wanted else path.rfind("/", 0, -1) + 1
    for offset in (start, 0):
        at = low.find(wanted, offset)
        if at >= 0:
            return Hit(path, frozenset(range(at, at + len(wanted))))
    positions = _positions_in_order(low, wanted, start) or _positions_in_order(low, wanted, 0)
    return Hit(path, frozenset(positions))


def _positions_in_order(text: str, wanted: str, start: int) -> list[int]:
    positions: list[int] = []
    at = start - 1
    for char in wanted:
        at = text.find(char, at + 1)
        if at < 0:
            return []
        positions.append(at)
    return positions

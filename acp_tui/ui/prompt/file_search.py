"""Which files are meant by what was typed, the likeliest first: bit by bit, so that a key never has to wait.

What fits best is looked for first, over all files, and what fits less only while there is not enough yet.
Each step looks at so many paths, in a thousandth of a second or so.
"""

from __future__ import annotations

import re
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Sieve = Callable[[Sequence[int], Sequence[str], Sequence[str]], list[int]]
    """Takes places, with the paths and the last parts of the paths that stand there; gives those that fit."""

MAX_HITS = 100
"""Hits that are offered."""
SLICE = 2000
ALL, PLENTY, SOME = 1 << 30, 5000, 1000
"""How many are found before the best are chosen: when many fit badly, none is meant more than the others."""


class FileIndex(Protocol):
    """What is known of the files by now: three lists that grow together, `paths` last."""

    bases: list[str]
    lower: list[str]
    paths: list[str]
    changed: set[str]
    missing: set[str]
    complete: bool


class FileSearch:
    """One search among files. `before` is the search for the first letters of the same name."""

    def __init__(self, files: FileIndex, wanted: str, before: FileSearch | None = None) -> None:
        self.files = files
        self.wanted = wanted.lower()
        self.size = len(files.paths)
        """So many paths are looked at; there may be more by now."""
        self.hits: list[int] = []
        """The numbers of the paths that fit, the best first, as far as is known by now."""
        self.done = False
        self._all = False  # are the hits everything that fits at all?
        self._places: Sequence[int] = range(self.size)
        if before is not None and before._holds(self):
            self._places = before.hits
        self._steps = self._search()

    def _holds(self, later: FileSearch) -> bool:
        """Is everything that the later search could find among our hits?"""
        return (
            self._all
            and self.files is later.files
            and self.size == later.size
            and later.wanted.startswith(self.wanted)
        )

    def step(self) -> bool:
        """Look at some more; False when all is done."""
        self.done = next(self._steps, True)
        return not self.done

    def finish(self) -> None:
        """All that is left at once."""
        while self.step():
            pass

    def _search(self) -> Iterator[bool]:
        for sift, enough in _sieves(self.wanted, self.files.changed):
            found: list[int] = []
            better = self.hits
            known = set(better)
            room = MAX_HITS - len(better)
            seen = 0
            for start in range(0, len(self._places), SLICE):
                fresh = self._fitting(sift, self._places[start : start + SLICE], known)
                if fresh:
                    found = nsmallest(room, [*found, *fresh], key=self._rank)
                    self.hits = better + found
                    seen += len(fresh)
                yield False
                if seen >= enough:
                    break
            if len(self.hits) >= MAX_HITS:
                return
        self._all = True

    def _fitting(self, sift: Sieve, places: Sequence[int], known: Collection[int]) -> list[int]:
        files = self.files
        if isinstance(places, range):
            part = slice(places.start, places.stop)
            found = sift(places, files.lower[part], files.bases[part])
        else:
            found = sift(places, [files.lower[n] for n in places], [files.bases[n] for n in places])
        if known or files.missing:
            return [n for n in found if n not in known and files.paths[n] not in files.missing]
        return found

    def _rank(self, place: int) -> tuple[bool, bool, bool, int, int]:
        """Among those that fit equally well: what was changed, where a word begins, what is short."""
        files, base = self.files, self.files.bases[place]
        at = base.find(self.wanted)
        inside = at > 0 and base[at - 1].isalnum()
        return files.paths[place] not in files.changed, at < 0, inside, len(files.lower[place]), place


def _sieves(wanted: str, touched: Collection[str]) -> Iterator[tuple[Sieve, int]]:
    """What to look for, one after the other, and how many are enough to choose among.

    Of a name with folders the beginning of the path counts, of any other the last part.
    """
    if not wanted:
        folded = {path.lower() for path in touched}
        yield lambda places, paths, _: [n for n, p in zip(places, paths, strict=True) if p in folded], PLENTY
        yield lambda places, paths, _: [n for n, p in zip(places, paths, strict=True) if _at_top(p)], PLENTY
        yield lambda places, _, __: list(places), MAX_HITS
        return
    if "/" in wanted:
        yield (
            lambda places, paths, _: [n for n, p in zip(places, paths, strict=True) if p.startswith(wanted)],
            PLENTY,
        )
    else:
        yield (
            lambda places, _, bases: [n for n, b in zip(places, bases, strict=True) if b.startswith(wanted)],
            ALL,
        )
        yield lambda places, _, bases: [n for n, b in zip(places, bases, strict=True) if wanted in b], PLENTY
    yield lambda places, paths, _: [n for n, p in zip(places, paths, strict=True) if wanted in p], PLENTY
    fits = _in_order(wanted)
    yield lambda places, paths, _: [n for n, p in zip(places, paths, strict=True) if fits(p)], SOME


def _at_top(path: str) -> bool:
    return path.find("/", 0, -1) < 0


def _in_order(wanted: str) -> Callable[[str], re.Match[str] | None]:
    """Do the characters occur one after another? It costs no more than a look at each character."""
    return re.compile("".join(f"[^{re.escape(char)}]*+{re.escape(char)}" for char in wanted), re.DOTALL).match


class Hit(NamedTuple):
    """A path that fits, and which of its characters were hit."""

    path: str
    places: frozenset[int]


def locate_match(path: str, wanted: str) -> Hit:
    """Where a path that fits was hit."""
    low, wanted = path.lower(), wanted.lower()
    start = 0 if "/" in wanted else path.rfind("/", 0, -1) + 1
    for begin in (start, 0):
        at = low.find(wanted, begin)
        if at >= 0:
            return Hit(path, frozenset(range(at, at + len(wanted))))
    return Hit(path, frozenset(_places(low, wanted, start) or _places(low, wanted, 0)))


def _places(text: str, wanted: str, start: int) -> list[int]:
    places: list[int] = []
    at = start - 1
    for char in wanted:
        at = text.find(char, at + 1)
        if at < 0:
            return []
        places.append(at)
    return places

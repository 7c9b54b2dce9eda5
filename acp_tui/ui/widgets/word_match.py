"""Filters texts by typed words: whole words rank before prefixes, and prefixes before other substrings.

A text matches if it contains all typed words. If no text contains all typed words, a text matches if it
contains the typed letters in the same order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from textual.fuzzy import Matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Rank = tuple[int, int]
"""How good a match is (smaller is better), and the index of the field with the match."""


def word_rank(query: str, *fields: str) -> Rank | None:
    """Find the best match of each word of `query`, and return the rank of the worst of these matches.

    Returns None if a word occurs in no field, or if there are no words. Pass the most important field first:
    of equally good matches, the match in the earlier field wins.
    """
    ranks: list[Rank] = []
    for typed in query.lower().split():
        found = [
            (rank, index)
            for index, field in enumerate(fields)
            if (rank := _rank(typed, field.lower())) is not None
        ]
        if not found:
            return None
        ranks.append(min(found))
    return max(ranks, default=None)


def _rank(typed: str, text: str) -> int | None:
    if typed not in text:
        return None
    words = {*re.findall(r"\w+", text), *text.split()}
    if typed in words:
        return 0
    return 1 if any(word.startswith(typed) for word in words) else 2


def best_matches(query: str, items: Sequence[Item], fields: Callable[[Item], Sequence[str]]) -> list[Item]:
    """Return the matching items, best first.

    If no item matches, return the items whose first field contains the letters of the query in order.
    """
    ranked = [(rank, item) for item in items if (rank := word_rank(query, *fields(item))) is not None]
    if ranked:
        return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
    match = Matcher(query).match
    scored = [(match(fields(item)[0]), item) for item in items]
    return [item for score, item in sorted(scored, key=lambda pair: -pair[0]) if score > 0]

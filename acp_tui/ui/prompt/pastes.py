"""Folds large pastes: a short token stands for the text until it is unfolded or the prompt is sent."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_UNFOLDED_LINES = 8
MAX_UNFOLDED_CHARS = 1000


class Token(NamedTuple):
    """A token and its position in a line."""

    start: int
    end: int
    text: str


class Pastes:
    """The folded pastes of one prompt, by token."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def fold(self, text: str) -> str:
        """Return a token for a large text, or the text itself if it is small."""
        lines = len(text.removesuffix("\n").split("\n"))
        if lines <= MAX_UNFOLDED_LINES and len(text) <= MAX_UNFOLDED_CHARS:
            return text
        size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
        number = f" #{len(self._texts) + 1}" if self._texts else ""
        token = f"[pasted {size}{number}]"
        self._texts[token] = text
        self._pattern = re.compile("|".join(re.escape(token) for token in self._texts))
        return token

    def expand(self, text: str) -> str:
        """Replace tokens by the pasted texts."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda token: self._texts[token[0]], text)

    def tokens(self, line: str) -> list[Token]:
        """Return the tokens in a line, with their positions."""
        if self._pattern is None or "[" not in line:
            return []
        return [Token(*found.span(), found[0]) for found in self._pattern.finditer(line)]

    def __bool__(self) -> bool:
        return bool(self._texts)

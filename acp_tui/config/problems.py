"""Problems in settings, each with a location and a sentence."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_VALUE_CHARACTERS = 40
"""Longer values are truncated in error messages."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the settings that is invalid and therefore ignored."""

    file: Path | None  # None: an environment variable
    line: int | None
    key: str
    sentence: str

    @property
    def location(self) -> str:
        """`FILE:LINE`, `FILE` if the line is unknown, or `environment`."""
        if self.file is None:
            return "environment"
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        """Return location, key and sentence on one line."""
        return ": ".join(part for part in (self.location, self.key, self.sentence) if part)


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most similar to `word`; None if none is similar enough."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def unknown_key_sentence(word: str, known: Iterable[str]) -> str:
    """Return the error for an unknown key. The error suggests a similar key, or lists the valid keys."""
    names = sorted(known)
    if meant := closest_match(word, names):
        return f"unknown key; did you mean {meant!r}?"
    return f"unknown key; valid keys: {', '.join(names)}"


def format_value(value: Any) -> str:
    """Return a value as it is quoted in an error message."""
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"

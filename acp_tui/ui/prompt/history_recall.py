"""Recalls earlier prompts with the arrow keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class History(Protocol):
    """The prompt history of a project."""

    def entries(self) -> Sequence[str]:
        """Return the prompts, the latest last."""

    def add(self, text: str) -> object:
        """Add a prompt that was sent."""


class Recall:
    """Goes through the history. Edits of recalled prompts are kept until `reset` is called."""

    def __init__(self, entries: Callable[[], Sequence[str]]) -> None:
        self._get_entries = entries
        self._texts: list[str] = []  # the last one is the text written before the recall
        self._index = 0

    @property
    def active(self) -> bool:
        """True while an earlier prompt is shown."""
        return self._index < len(self._texts) - 1

    def move(self, step: int, current: str) -> str | None:
        """Move to the previous (-1) or next (1) prompt and return it; None if there is none.

        `current` is the text in the editor. It is kept, and returned again when the user moves back to it.
        """
        if not self._texts:
            self._texts = [*self._get_entries(), current]
            self._index = len(self._texts) - 1
        index = self._index + step
        if not 0 <= index < len(self._texts):
            return None
        self._texts[self._index] = current
        self._index = index
        return self._texts[index]

    def reset(self) -> None:
        """Start over at the end of the history, after a prompt was sent or replaced."""
        self._texts = []
        self._index = 0

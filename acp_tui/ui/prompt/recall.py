"""Going back and forth through what was asked before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class History(Protocol):
    """The prompts of a project."""

    def entries(self) -> Sequence[str]:
        """All of them, the latest last."""

    def add(self, text: str) -> object:
        """Remember one that was sent."""


class Recall:
    """One walk through the history. What is changed on the way stays changed until a prompt is sent."""

    def __init__(self, entries: Callable[[], Sequence[str]]) -> None:
        self._load = entries
        self._texts: list[str] = []  # the last one is what was being written
        self._at = 0

    @property
    def walking(self) -> bool:
        """Is an earlier prompt shown?"""
        return self._at < len(self._texts) - 1

    def move(self, step: int, current: str) -> str | None:
        """The prompt before (-1) or after (1); None when there is none."""
        if not self._texts:
            self._texts = [*self._load(), current]
            self._at = len(self._texts) - 1
        place = self._at + step
        if not 0 <= place < len(self._texts):
            return None
        self._texts[self._at] = current
        self._at = place
        return self._texts[place]

    def end(self) -> None:
        """A prompt was sent, or another one written: the next walk begins at the end."""
        self._texts = []
        self._at = 0

"""Ignores keys until a pause in typing, so that type-ahead never answers a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE_SECONDS = 0.4
"""Seconds without a keystroke after which keys are accepted."""


class TypingGuard:
    """Watches the keystrokes of one dialog, starting when it opens."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self._armed = False

    @property
    def armed(self) -> bool:
        """True if the next key is accepted."""
        return self._armed or self.left <= 0

    @property
    def left(self) -> float:
        """Seconds until keys are accepted."""
        return self._last + PAUSE_SECONDS - self._clock()

    def accepts(self, *, steering: bool) -> bool:
        """Register a keystroke and return whether it may act.

        After an arrow or another navigation key (`steering`) the next key is accepted at once. After a key
        that may be part of a word, it is accepted only after a pause: the `a` of `via` must not allow.
        """
        counts = self.armed
        self._armed = counts and steering
        self._last = self._clock()
        return counts

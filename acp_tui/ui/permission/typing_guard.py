"""Ignores keys until a pause in typing, so that type-ahead never answers a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE_SECONDS = 0.4
"""Seconds without a keystroke after which keys count."""


class TypingGuard:
    """Watches the keystrokes of one dialog, starting when it opens."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self._armed = False

    @property
    def armed(self) -> bool:
        """True if the next key counts."""
        return self._armed or self.left <= 0

    @property
    def left(self) -> float:
        """Seconds until keys count."""
        return self._last + PAUSE_SECONDS - self._clock()

    def accepts(self, *, steering: bool) -> bool:
        """A key was pressed; does it count? After arrows and the like the next one does so at once, after
        anything that could be part of a word only when a pause follows: `via` must not allow with its `a`."""
        counts = self.armed
        self._armed = counts and steering
        self._last = self._clock()
        return counts

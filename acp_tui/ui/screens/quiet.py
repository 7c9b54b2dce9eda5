"""Keys that count only after a pause: who is typing when a question appears must not answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE = 0.4
"""Seconds without any keystroke."""


class Quiet:
    """Watches the keystrokes of one dialog from its first moment on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self._armed = False

    @property
    def armed(self) -> bool:
        """Would a key count now?"""
        return self._armed or self.left <= 0

    @property
    def left(self) -> float:
        """Seconds until keys count."""
        return self._last + PAUSE - self._clock()

    def stroke(self, *, known: bool) -> bool:
        """A key was pressed; does it count? One that means nothing here says that somebody is typing."""
        self._armed = self.armed and known
        self._last = self._clock()
        return self._armed

"""The last lines of a stream, such as a program's stderr."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LINES = 200
KEPT_LINE_BYTES = 2000
"""The maximum number of bytes kept of each line."""


class LineRing:
    """A ring buffer of the last lines of a stream. The number of lines and their length are limited."""

    def __init__(self, lines: int = MAX_LINES, width: int = KEPT_LINE_BYTES) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._width = width
        self._incomplete = b""
        self.count = 0
        """The number of complete lines so far, including those that are no longer in the buffer."""

    def add(self, block: bytes) -> None:
        """Append a block of the stream."""
        *ended, last = block.split(b"\n")
        for line in ended:
            self._lines.append((self._incomplete + line)[: self._width])
            self._incomplete = b""
        self.count += len(ended)
        self._incomplete = (self._incomplete + last)[: self._width]

    def tail(self, count: int = MAX_LINES) -> list[str]:
        """Return the last non-empty lines, safe to display."""
        return _displayable((*self._lines, self._incomplete))[-count:]

    def since(self, count: int) -> list[str]:
        """Return the buffered non-empty lines after the stream's first `count` lines, safe to display."""
        new = min(len(self._lines), max(0, self.count - count))
        return _displayable((*islice(self._lines, len(self._lines) - new, None), self._incomplete))


def _displayable(lines: Iterable[bytes]) -> list[str]:
    texts = (visible_line(line.decode("utf-8", "replace").rstrip()) for line in lines)
    return [text for text in texts if text]

"""The last lines of a stream, such as a program's stderr."""

from __future__ import annotations

from collections import deque

from acp_tui.session.text import visible_line

MAX_LINES = 200
MAX_LINE_BYTES = 2000


class LineRing:
    """A ring buffer of the last lines of a stream, limited in number and width."""

    def __init__(self, lines: int = MAX_LINES, width: int = MAX_LINE_BYTES) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._width = width
        self._incomplete = b""

    def add(self, block: bytes) -> None:
        """Append a block of the stream."""
        *ended, last = block.split(b"\n")
        for line in ended:
            self._lines.append((self._incomplete + line)[: self._width])
            self._incomplete = b""
        self._incomplete = (self._incomplete + last)[: self._width]

    def tail(self, count: int = MAX_LINES) -> list[str]:
        """Return the last non-empty lines, safe to display."""
        lines = (
            visible_line(line.decode("utf-8", "replace").rstrip())
            for line in (*self._lines, self._incomplete)
        )
        return [line for line in lines if line][-count:]

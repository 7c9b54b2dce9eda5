"""Splits a byte stream into lines in linear time, whatever the block size."""

from __future__ import annotations

EXCERPT_BYTES = 500
"""The number of bytes kept of a line that exceeds the limit."""


class LineSplitter:
    """Splits blocks of bytes into lines without their `\\n`.

    A line longer than `limit` bytes is replaced by its first bytes and a note with its size. This replacement
    is never valid JSON, so that it cannot be mistaken for a message.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []  # of the incomplete line; joined only once
        self._size = 0
        self._head: bytes | None = None  # first bytes of a line over the limit

    @property
    def pending(self) -> int:
        """The number of bytes of the incomplete last line."""
        return self._size

    def feed(self, block: bytes) -> list[bytes]:
        """Return the lines that this block completes."""
        *ended, rest = block.split(b"\n")
        if ended:
            self._append(ended[0])
            ended[0] = self._pop_line()
        self._append(rest)
        return ended

    def rest(self) -> bytes:
        """Return the incomplete last line at the end of the stream."""
        return self._pop_line()

    def _append(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            if self._head is None:
                self._head = b"".join([*self._parts, piece])[:EXCERPT_BYTES]
                self._parts.clear()
        elif piece:
            self._parts.append(piece)

    def _pop_line(self) -> bytes:
        line = b"".join(self._parts)
        if self._head is not None:
            line = self._head + b"... [line truncated: %d bytes, limit %d]" % (self._size, self._limit)
        self._parts.clear()
        self._size = 0
        self._head = None
        return line

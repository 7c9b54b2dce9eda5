"""Cuts a stream of bytes into lines, at a cost that depends on the bytes alone."""

from __future__ import annotations

MAX_LINE_BYTES = 256 * 1024 * 1024
"""Bytes of one line; nothing sensible is longer, and something must protect the memory."""
EXCERPT_BYTES = 500


class LineSplitter:
    """Feed it blocks, get whole lines without their `\\n`.

    A line over the limit is not kept: its beginning and its size come out as text that is no JSON.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []  # of the line that is still open; joined once
        self._size = 0
        self._head: bytes | None = None  # of a line that grew too long

    def feed(self, block: bytes) -> list[bytes]:
        """The lines that this block completes."""
        *ended, rest = block.split(b"\n")
        if ended:
            self._grow(ended[0])
            ended[0] = self._take()
        self._grow(rest)
        return ended

    def rest(self) -> bytes:
        """What stands after the last `\\n`, at the end of the stream."""
        return self._take()

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            if self._head is None:
                self._head = b"".join([*self._parts, piece])[:EXCERPT_BYTES]
                self._parts.clear()
        elif piece:
            self._parts.append(piece)

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        if self._head is not None:
            line = self._head + b"... [a line of %d bytes; more than %d are not read]" % (
                self._size,
                self._limit,
            )
        self._parts.clear()
        self._size = 0
        self._head = None
        return line

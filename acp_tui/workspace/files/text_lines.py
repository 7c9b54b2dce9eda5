"""Lines of an open text file, without reading more of it than they take.

Lines end with `\\n`, as the agent and its tools count them; a `\\r` before it stays.
"""

from __future__ import annotations

import os

MAX_BYTES = 50_000_000
"""Bytes of text in one answer: it travels as one line of JSON."""

_TOO_LARGE = f"it has more than {MAX_BYTES // 1_000_000} MB of text; request a part of it with line and limit"
_CHUNK = 256 * 1024
_SNIFF_BYTES = 8000  # as git does it: a NUL early on makes a file binary


class UnreadableError(Exception):
    """What was asked for is no text, or too much of it: why, in words that follow the file's name."""


def read_lines(descriptor: int, first: int, limit: int | None) -> str:
    """`limit` lines (None: all) from the 1-based line `first` on."""
    if b"\0" in os.pread(descriptor, _SNIFF_BYTES, 0):
        raise UnreadableError("it is a binary file")
    position = _start_of(descriptor, first)
    data = b"" if position is None or limit == 0 else _take(descriptor, position, limit)
    if b"\0" in data:
        raise UnreadableError("it is a binary file")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first + data.count(b"\n", 0, error.start)
        raise UnreadableError(f"it is not valid UTF-8 (line {line})") from None


def _start_of(descriptor: int, line: int) -> int | None:
    """Where a line begins; None when there are fewer."""
    position, missing = 0, line - 1
    while missing:
        chunk = os.pread(descriptor, _CHUNK, position)
        if not chunk:
            return None
        end = _after_breaks(chunk, missing)
        if end is not None:
            return position + end
        missing -= chunk.count(b"\n")
        position += len(chunk)
    return position


def _take(descriptor: int, position: int, limit: int | None) -> bytes:
    """So many lines, or everything, from a position on."""
    if limit is None and os.fstat(descriptor).st_size - position > MAX_BYTES:
        raise UnreadableError(_TOO_LARGE)
    parts: list[bytes] = []
    size = 0
    while chunk := os.pread(descriptor, _CHUNK, position + size):
        end = None if limit is None else _after_breaks(chunk, limit)
        if end is not None:
            chunk = chunk[:end]
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise UnreadableError(_TOO_LARGE)
        if end is not None:
            break
        if limit is not None:
            limit -= chunk.count(b"\n")
    return b"".join(parts)


def _after_breaks(chunk: bytes, count: int) -> int | None:
    """The position behind the line break with this number; None when there are fewer."""
    if chunk.count(b"\n") < count:
        return None
    position = -1
    for _ in range(count):
        position = chunk.index(b"\n", position + 1)
    return position + 1

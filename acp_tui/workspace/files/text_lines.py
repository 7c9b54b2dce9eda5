"""Reads a range of lines from an open text file, without reading the rest into memory.

Only `\\n` ends a line, because agents and their tools count lines by `\\n`. A `\\r` before `\\n` is kept.
"""

from __future__ import annotations

import os

MAX_BYTES = 50_000_000
"""The maximum size of the text in one answer, because an answer is sent as a single line of JSON."""

_TOO_LARGE = (
    f"it has more than {MAX_BYTES // 1_000_000} MB of text; use `line` and `limit` to request a smaller part"
)
_CHUNK_BYTES = 256 * 1024
_SNIFF_BYTES = 8000  # git, too, calls a file binary if it has a NUL in its first 8000 bytes


class UnreadableError(Exception):
    """A file is not text, or too much text was requested. The message can follow "cannot be read: "."""


def read_lines(descriptor: int, first: int, limit: int | None) -> str:
    """Return up to `limit` lines (None: all) from the 1-based line `first` on."""
    if b"\0" in os.pread(descriptor, _SNIFF_BYTES, 0):
        raise UnreadableError("it is a binary file")
    position = _find_line(descriptor, first)
    data = b"" if position is None or limit == 0 else _read(descriptor, position, limit)
    if b"\0" in data:
        raise UnreadableError("it is a binary file")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first + data.count(b"\n", 0, error.start)
        raise UnreadableError(f"it is not valid UTF-8 (line {line})") from None


def _find_line(descriptor: int, line: int) -> int | None:
    """Return the byte position where a line begins; None if the file has fewer than `line - 1` newlines."""
    position, missing = 0, line - 1
    while missing:
        chunk = os.pread(descriptor, _CHUNK_BYTES, position)
        if not chunk:
            return None
        end = _end_of_line(chunk, missing)
        if end is not None:
            return position + end
        missing -= chunk.count(b"\n")
        position += len(chunk)
    return position


def _read(descriptor: int, position: int, limit: int | None) -> bytes:
    """Read up to `limit` lines (None: all) from a byte position on."""
    if limit is None and os.fstat(descriptor).st_size - position > MAX_BYTES:
        raise UnreadableError(_TOO_LARGE)
    parts: list[bytes] = []
    size = 0
    while chunk := os.pread(descriptor, _CHUNK_BYTES, position + size):
        end = None if limit is None else _end_of_line(chunk, limit)
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


def _end_of_line(chunk: bytes, count: int) -> int | None:
    """Return the position after the `count`-th newline; None if there are fewer."""
    if chunk.count(b"\n") < count:
        return None
    position = -1
    for _ in range(count):
        position = chunk.index(b"\n", position + 1)
    return position + 1

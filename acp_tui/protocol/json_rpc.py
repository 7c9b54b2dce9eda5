"""Reads JSON-RPC 2.0 in lines of JSON: messages of ACP, of MCP over stdio, and of acp-tui's own socket."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from typing import Any, TypeGuard

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""The longest message that is accepted. Real messages are far shorter; the limit bounds memory."""
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


NOT_JSON = object()
"""What `decode` returns for a line that is not JSON."""


def decode(line: str | bytes) -> Any:
    """Return the JSON value in a line; `NOT_JSON` if there is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return NOT_JSON


def is_id(value: Any) -> TypeGuard[int | str]:
    """Return True if the value may be the id of a request."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def own_id(value: Any, sent: Container[Any]) -> Any:
    """Return the id in an answer as it was sent: some agents and servers return a number as a string.

    `sent` are the ids of the unanswered requests.
    """
    if isinstance(value, str) and value.isdecimal() and len(value) < 19 and value not in sent:
        return int(value)
    return value


# --------------------------------------------------------------------------- faults of an agent's output

BYTE_ORDER_MARK = "\ufeff"
MARKED = "stdout has a byte order mark (BOM) before a message: write UTF-8 without it"
HEADERS = "stdout has Content-Length headers: end each message with \\n instead, and send no headers"
SEVERAL_LINES = "stdout has JSON spread over several lines: send each message as one line"
SILENT = "Nothing has arrived on its stdout; an agent must end each message with \\n and flush."
LATE = "The answer to {method} came only after stdin was closed: flush stdout after each message"
_HEADER = re.compile(r"(?:^\s*|\})Content-(?:Length|Type)\s*:", re.IGNORECASE)
_FIELD = re.compile(r'\s*"(?:jsonrpc|method|result)"\s*:')


def line_fault(line: str) -> str | None:
    """Return the fault that a line on stdout shows if it is not JSON; None if the line can be anything."""
    if _HEADER.search(line[:200]) or _HEADER.search(line[-200:]):
        return HEADERS
    return SEVERAL_LINES if _FIELD.match(line) else None


def unended_fault(size: int) -> str:
    """Return the fault of bytes on stdout that no line end follows."""
    return f"stdout has {size:,} bytes without a line end: end each message with \\n and flush"

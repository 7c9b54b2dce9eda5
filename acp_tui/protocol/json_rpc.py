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


SHORTENED = "_shortened"
"""A key in a recorded frame of which only the beginning was kept. Its value is the size of the whole line."""
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[\[\]{},]', re.DOTALL)
_PART_OF_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,3})?$")
_LAST_ID = re.compile(r'"id"\s*:\s*(-?\d+|"[^"\\]*")\s*\}\s*$')


def shortened_frame(head: bytes, tail: bytes, size: int) -> Any:
    """Return the frame at the beginning of a long line, with what is open closed and its size as `SHORTENED`.

    If the line does not begin like a JSON object, return its beginning as text, with a note of the size.

    Args:
        head: The beginning of the line.
        tail: The end of the line, where some programs write the id.
        size: The number of bytes of the whole line.
    """
    text = head.decode("utf-8", "replace").rstrip("\ufffd")
    frame = _close_json(text)
    if not isinstance(frame, dict):
        return f"{text}... [line truncated: {size} bytes]"
    if "id" not in frame and (found := _LAST_ID.search(tail.decode("utf-8", "replace"))):
        frame["id"] = json.loads(found[1])
    return frame | {SHORTENED: size}


def _close_json(text: str) -> Any:
    """Return the value of JSON text that ends in the middle; `NOT_JSON` if it is not JSON."""
    open_brackets: list[str] = []
    end = 0  # where the text can be cut so that only brackets are open
    in_string = False
    for token in _STRUCTURE.finditer(text):
        match token[0]:
            case "{" | "[":
                open_brackets.append("}" if token[0] == "{" else "]")
                end = token.end()
            case "}" | "]":
                if not open_brackets:
                    return NOT_JSON
                open_brackets.pop()
                end = token.end()
            case ",":
                end = token.start()
            case _:
                in_string = not token[1]
    closers = "".join(reversed(open_brackets))
    if in_string:
        value = decode(_PART_OF_ESCAPE.sub("", text) + '"' + closers)
        if value is not NOT_JSON:
            return value
    return decode(text[:end] + closers)


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

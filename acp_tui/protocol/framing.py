"""Faults in how an agent separates its messages on stdout, which are lines of JSON.

Each fault is a sentence that says what was received and what to do. The connection, the conversation and
`doctor` use the same sentences.
"""

from __future__ import annotations

import re

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

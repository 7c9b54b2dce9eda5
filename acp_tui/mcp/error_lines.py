"""Finds the lines on a server's stderr that say why it ended. Does not import the SDK.

The last lines often do not: Node.js ends with its version, npm with the path of its log.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_LINES = 3
_TRACEBACK = "Traceback (most recent call last)"
# npm puts this word before each line. A line that only repeats the HTTP status says nothing.
_NPM = re.compile(r"npm (?:error|ERR!) +(?!A complete log|Note that|\d+ *$)\S")
_ERRORS = (
    re.compile(r"(?:Uncaught )?[\w.$]*(?:Error|Exception)(?: \[\w+\])?(?::|$)"),
    re.compile(r"error(?:\[\w+\])?:", re.IGNORECASE),
)
"""How a line begins that names an error, the most reliable pattern first."""
_MENTION = re.compile(r"\b\w*Error\b|Cannot find")


def error_lines(stderr: Sequence[str]) -> list[str]:
    """Return the lines that say what went wrong; the last lines if none does. At most `MAX_LINES`."""
    lines = [line.rstrip() for line in stderr if line.strip()]
    if npm := list(islice(filter(_NPM.match, lines), MAX_LINES)):
        return npm
    for line in _traceback_errors(lines):
        return [line]
    for pattern in _ERRORS:
        for line in lines:
            if pattern.match(line.strip()):
                return [line.strip()]
    for line in lines:
        if _MENTION.search(line):
            return [line.strip()]
    return [line.strip() for line in lines[-MAX_LINES:]]


def _traceback_errors(lines: Sequence[str]) -> Iterator[str]:
    """Yield the error of the last Python traceback: the first line that is indented as its head is."""
    starts = [number for number, line in enumerate(lines) if _TRACEBACK in line]
    if not starts:
        return
    column = lines[starts[-1]].index(_TRACEBACK)
    for line in lines[starts[-1] + 1 :]:
        if line[column : column + 1].strip():
            yield line[column:]

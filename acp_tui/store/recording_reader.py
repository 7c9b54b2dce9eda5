"""Reads recordings in acp-tui's wire log format and in a similar one that other tools write.

The other format has lines `{"t": seconds, "dir": "c2a" | "a2c", "msg": frame}`, where `c2a` is from client to
agent. Lines with other directions are comments.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from acp_tui.config.own_files import MAX_RECORDING_BYTES, open_own
from acp_tui.session.record import Direction, Record
from acp_tui.store.wire_log import MAX_LINE_BYTES, read_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_DIRECTIONS: dict[str, Direction] = {"c2a": "sent", "a2c": "received"}


def read_recording(path: Path, on_damaged_line: Callable[[int], None] | None = None) -> Iterator[Record]:
    """Yield the records of a file in acp-tui's format or in the format of other tools.

    `on_damaged_line` is called with the number of each line that cannot be read, except an incomplete last
    line, which is normal after a crash.
    """
    return _read_foreign(path, on_damaged_line) if _is_foreign(path) else read_log(path, on_damaged_line)


def _is_foreign(path: Path) -> bool:
    with open(open_own(path, os.O_RDONLY, MAX_RECORDING_BYTES), "rb") as file:
        try:
            first = json.loads(file.readline(MAX_LINE_BYTES))
        except (ValueError, RecursionError):
            return False
    return isinstance(first, dict) and "dir" in first and "frame" not in first


def _read_foreign(path: Path, on_damaged_line: Callable[[int], None] | None) -> Iterator[Record]:
    with open(open_own(path, os.O_RDONLY, MAX_RECORDING_BYTES), "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                match json.loads(line):
                    case {"t": int() | float() as at, "dir": "c2a" | "a2c" as direction, "msg": frame}:
                        yield Record(at, _DIRECTIONS[direction], frame)
            except (ValueError, RecursionError):
                if on_damaged_line is not None and line.endswith(b"\n") and not line.isspace():
                    on_damaged_line(number)

"""The wire log: every frame sent and received, and the client's own events, one record per line.

    {"t": 1763633999.25, "dir": "received", "frame": {"jsonrpc": "2.0", …}}

Each record is written to the file, unbuffered, before the frame is processed: if acp-tui is killed, the log
contains everything that acp-tui acted on. A write takes about 2 µs; buffering would save 1 µs. Recording
stops at `log.max_session_bytes`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from acp_tui.config.own_files import MAX_RECORDING_BYTES, open_own
from acp_tui.session.record import Direction, Record
from acp_tui.session.safe_text import escape_json

if TYPE_CHECKING:
    from acp_tui.store.redaction import Redactor

_DIRECTIONS = frozenset(get_args(Direction))


class WireLog:
    """Appends records to an open file. Never raises: a full disk must not end a conversation."""

    def __init__(
        self,
        descriptor: int,
        *,
        redactor: Redactor | None = None,
        on_error: Callable[[OSError | None], None],
        max_bytes: int | None = None,
        on_full: Callable[[], None] = lambda: None,
    ) -> None:
        """Append to an open file.

        Args:
            descriptor: The open file, which the caller closes.
            redactor: Removes secrets from frames.
            on_error: Called with the error when a write fails, and with None when writing works again.
            max_bytes: The size at which recording ends; None for no limit.
            on_full: Called once at `max_bytes`. A record that `on_full` appends is still written.
        """
        self._descriptor = descriptor
        self._redactor = redactor
        self._on_error = on_error
        self._failing = False
        self._recovered = False
        self._torn = ends_mid_line(descriptor)
        self._max_bytes = max_bytes
        self._on_full = on_full
        self._reports_full = False
        self._is_full = False
        self._size = os.fstat(descriptor).st_size if max_bytes is not None else 0

    def append(self, at: float, direction: Direction, frame: Any, line: str | None = None) -> None:
        """Write one record, unless recording has ended.

        `line` is the original JSON text of the frame. The text is logged unless it contains secrets or line
        breaks. In these cases the frame, without secrets, is converted to JSON again. Terminal control
        characters become `\\u` escapes, so that the log can be printed. A frame that is a string was not
        valid JSON and is logged as a JSON string.
        """
        if self._is_full:
            return
        if self._recovered:
            # Reported here and not by `_write`, so that a record logged by the listener precedes the new one.
            self._recovered = False
            self._on_error(None)
        if self._redactor is not None:
            redacted = self._redactor.redact(direction, frame, line)
            if redacted is not frame:
                frame, line = redacted, None
        if line is None or "\n" in line or "\r" in line or type(frame) is str:
            line = _one_line(frame, line)
        data = f'{{"t":{at!r},"dir":"{direction}","frame":{escape_json(line)}}}\n'.encode()
        if self._has_room(len(data)):
            self._write(data)

    def _has_room(self, length: int) -> bool:
        """Return True if a record of this length may be written. Calls `on_full` at the limit."""
        self._size += length
        if self._max_bytes is None or self._size <= self._max_bytes or self._reports_full:
            return True
        self._reports_full = True
        self._on_full()
        self._is_full = True
        return False

    def close(self) -> None:
        """Stop writing. The caller closes the file."""
        self._descriptor = -1  # the number may be reused for another file
        self._failing = True  # suppresses error reports

    def _write(self, data: bytes) -> None:
        if self._torn:
            data = b"\n" + data
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                self._torn = True  # until the rest has been written
                data = data[written:]
                written = os.write(self._descriptor, data)
        except OSError as error:
            # The next record is tried again: by then the disk may have space.
            if not self._failing:
                self._failing = True
                self._on_error(error)
            return
        self._torn = False
        if self._failing:
            self._failing, self._recovered = False, True


class NullLog:
    """A log that discards everything, used if nothing is recorded."""

    def append(self, at: float, direction: Direction, frame: Any, line: str | None = None) -> None:
        """Do nothing."""


def _one_line(frame: Any, line: str | None) -> str:
    """Return the frame as JSON on one line: the original text `line` if this text is JSON on one line."""
    if line is not None and type(frame) is not str:
        line = line.strip()
        if "\n" not in line and "\r" not in line:
            return line
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


def ends_mid_line(descriptor: int) -> bool:
    """Return True if the last line of the file is incomplete, for example because the writer was killed."""
    try:
        size = os.fstat(descriptor).st_size
        return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    except OSError:
        return False


# --------------------------------------------------------------------------- reading


BATCH_BYTES = 1 << 16
"""The size of the batches in which lines are parsed. This is twice as fast as parsing line by line."""
MAX_LINE_BYTES = 200_000_000
"""The maximum size of a line. A longer one cannot be a record: after a power failure, a file can be full of
zeros."""


def read_log(
    path: Path, on_damaged_line: Callable[[int], None] | None = None, *, containing: bytes = b""
) -> Iterator[Record]:
    """Yield the records of a wire log in order, or only those whose lines contain the bytes `containing`.

    Lines that are not records are skipped, and `on_damaged_line` is called with their numbers. Blank
    lines are not reported, nor is an incomplete last line: it is normal after a crash. Raises `OSError`.
    """
    with open(open_own(path, os.O_RDONLY, MAX_RECORDING_BYTES), "rb") as file:
        first = 1  # the number of the first line of the batch
        while batch := _read_lines(file):
            lines = [line for line in batch if containing in line] if containing else batch
            values = _parse_together(lines)
            records = map(_parse, lines) if values is None else map(_record, values)
            for number, record in enumerate(records, start=first):
                if record is not None:
                    yield record
                elif on_damaged_line is not None:
                    line = lines[number - first]
                    if line.endswith(b"\n") and not line.isspace():
                        on_damaged_line(number)
            first += len(batch)


def _read_lines(file: BinaryIO) -> list[bytes]:
    """Return the next lines, of `BATCH_BYTES` together; none at the end of the file."""
    lines: list[bytes] = []
    size = 0
    while size < BATCH_BYTES and (line := file.readline(MAX_LINE_BYTES)):
        lines.append(line)
        size += len(line)
    return lines


def _parse_together(lines: list[bytes]) -> list[Any] | None:
    """Return the value of each line; None if the lines cannot be parsed together."""
    try:
        values: list[Any] = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return None
    return values if len(values) == len(lines) else None


def _parse(line: bytes) -> Record | None:
    try:
        return _record(json.loads(line.lstrip(b"\0")))  # zeros are left by a power failure during a write
    except (ValueError, RecursionError):
        return None


def _record(value: Any) -> Record | None:
    if type(value) is not dict or "frame" not in value:
        return None
    at, direction = value.get("t"), value.get("dir")
    if type(at) not in (int, float) or type(direction) is not str or direction not in _DIRECTIONS:
        return None
    return Record(at, direction, value["frame"])  # type: ignore[arg-type]

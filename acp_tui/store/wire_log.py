"""The wire log: everything that crossed the wire, and what the client did, one record a line.

    {"t": 1763633999.25, "dir": "received", "frame": {"jsonrpc": "2.0", …}}

Each record is handed to the system in one write before anybody looks at the frame: when we are killed,
nothing that was acted upon is missing. (A write costs about 2 µs; a buffer would save one of them.)
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, get_args

from acp_tui.session.record import Direction, Record
from acp_tui.session.text import escape_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Protocol

    class Redacts(Protocol):
        """What takes secrets out of a frame."""

        def redact(self, direction: Direction, frame: Any, line: str | None) -> Any:
            """The frame without secrets: the same object when there were none."""


_DIRECTIONS = frozenset(get_args(Direction))


class WireLog:
    """Appends records to an open file. It never raises: a full disk must not end a conversation."""

    def __init__(
        self,
        descriptor: int,
        *,
        redactor: Redacts | None = None,
        trouble: Callable[[OSError | None], None],
        max_bytes: int | None = None,
        on_full: Callable[[], None] = lambda: None,
    ) -> None:
        """Append to an open file.

        Args:
            descriptor: The open file; it stays the caller's.
            redactor: Removes secrets from frames.
            trouble: Called with the error when a write fails, and with None when writing works again.
            max_bytes: The size at which recording ends; None for no limit.
            on_full: Called once when that size is reached. The record it appends is still written.
        """
        self._descriptor = descriptor
        self._redactor = redactor
        self._trouble = trouble
        self._failing = False
        self._recovered = False
        self._torn = ends_mid_line(descriptor)
        self._max_bytes = max_bytes
        self._on_full = on_full
        self._reports_full = False
        self._is_full = False
        self._size = os.fstat(descriptor).st_size if max_bytes is not None else 0

    def append(self, at: float, direction: Direction, frame: Any, line: str | None = None) -> None:
        """Write one record.

        `line` is the frame's JSON text as it crossed the wire: it is kept as it was, not serialised again.
        Only characters that a terminal obeys become `\\u` escapes, so that the file can be printed.
        A frame that is a string was not JSON, and is kept as a JSON string.
        """
        if self._is_full:
            return
        if self._recovered:
            # Reported only now: a listener that logs it must not write into the middle of another record.
            self._recovered = False
            self._trouble(None)
        if self._redactor is not None:
            harmless = self._redactor.redact(direction, frame, line)
            if harmless is not frame:
                frame, line = harmless, None
        if line is None or "\n" in line or "\r" in line or type(frame) is str:
            line = _one_line(frame, line)
        data = f'{{"t":{at!r},"dir":"{direction}","frame":{escape_json(line)}}}\n'.encode()
        if self._has_room(len(data)):
            self._write(data)

    def _has_room(self, length: int) -> bool:
        """Whether a record of this length is to be written; the last one says that the log is full."""
        self._size += length
        if self._max_bytes is None or self._size <= self._max_bytes or self._reports_full:
            return True
        self._reports_full = True
        self._on_full()
        self._is_full = True
        return False

    def close(self) -> None:
        """Write no more. The file itself is the caller's."""
        self._descriptor = -1  # its number may soon be another file's
        self._failing = True  # suppresses error reports

    def _write(self, data: bytes) -> None:
        if self._torn:
            data = b"\n" + data
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                self._torn = True  # unless the rest still finds room
                data = data[written:]
                written = os.write(self._descriptor, data)
        except OSError as error:
            # The next record is tried again: somebody may have made room.
            if not self._failing:
                self._failing = True
                self._trouble(error)
            return
        self._torn = False
        if self._failing:
            self._failing, self._recovered = False, True


class NullLog:
    """The log of `--no-log`: keeps nothing."""

    def append(self, at: float, direction: Direction, frame: Any, line: str | None = None) -> None:
        """Discard the record."""


def _one_line(frame: Any, line: str | None) -> str:
    """The frame as JSON on one line, from the original text where that is possible."""
    if line is not None and type(frame) is not str:
        line = line.strip()
        if "\n" not in line and "\r" not in line:
            return line
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


def ends_mid_line(descriptor: int) -> bool:
    """Return True if the file does not end with a newline, because the last writer was killed."""
    try:
        size = os.fstat(descriptor).st_size
        return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    except OSError:
        return False


# --------------------------------------------------------------------------- reading


def read_log(path: Path, damaged: Callable[[int], None] | None = None) -> Iterator[Record]:
    """The records of a wire log, in order.

    Lines that are no record are skipped, and `damaged` is told their numbers; but a last line without an end
    is normal after a crash, and not reported.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            record = _record(line)
            if record is not None:
                yield record
            elif damaged is not None and line.endswith(b"\n") and not line.isspace():
                damaged(number)


def _record(line: bytes) -> Record | None:
    try:
        # A machine that lost power may have left zeros where a write was under way.
        match json.loads(line.lstrip(b"\0")):
            case {"t": int() | float() as at, "dir": str() as direction, "frame": frame}:
                return Record(at, direction, frame) if direction in _DIRECTIONS else None  # type: ignore[arg-type]
    except (ValueError, RecursionError):
        pass
    return None

"""A wire log as a list of rows, which a screen can show while the log grows.

The rows are the lines of the log, with a row for each message of a batch, and, on the same clock, the lines
of `stderr.log` beside it. A long log without a saved index first consists of its last rows only. `update`
reads the rest in steps, and then reports how many rows were put in front.
"""

from __future__ import annotations

import json
import math
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.config.own_files import MAX_RECORDING_BYTES, open_own
from acp_tui.session.safe_text import CUT, MAX_DEPTH, escape_line, exceeds_depth, visible_excerpt
from acp_tui.store.stderr_log import StderrLines
from acp_tui.store.stored_sessions import WIRE, stderr_file
from acp_tui.wire.frame_filter import DIRECTIONS
from acp_tui.wire.frame_index import (
    BLOCK_BYTES,
    INDEX_NAME,
    MAX_PARSED_BYTES,
    MAX_PREFIX_BYTES,
    FrameDirection,
    FrameIndex,
    FrameType,
    Shape,
    beginning_of,
    frame_in,
    frame_span,
    load_index,
)
from acp_tui.wire.schema_check import SchemaViolation, Sender, Version, frame_violations

if TYPE_CHECKING:
    from acp_tui.wire.frame_filter import FrameFilter

STEP_BYTES = 1 << 20
"""How much of the log `update` reads at most: about 15 ms."""
MAX_WHOLE_BYTES = 8 * STEP_BYTES
"""A log up to this size is indexed when it is opened: about 0.1 s."""
TAIL_ROWS = 300
"""How many rows at the end of a longer log are shown first."""
MAX_TAIL_BYTES = 16 * STEP_BYTES
SAVED_BYTES = STEP_BYTES
"""The index is saved if it covers this many bytes more than the saved one."""
MAX_SHOWN_ID = 100
MAX_SUMMARY = 500
MAX_SUMMARISED_BYTES = 64 * 1024
_CHECKED_BYTES = 64
_ROWS_PER_STEP = 20_000
VERSION_1 = (1, "1", "1.0")
"""How version 1 of the protocol is written; agents do not always write a number."""
_BY_HAND = Shape("client", "event", "written_by_hand")
"""The event that is recorded before a message that the user wrote."""
_STDERR_SHAPE = Shape("stderr", "stderr")


@dataclass(frozen=True, slots=True)
class FrameRow:
    """What a list shows of one frame. All texts are safe to display."""

    number: int
    place: int
    """What identifies the row as long as the log only grows; `FrameLog.number_of` finds it again."""
    at: float | None
    """Seconds since the epoch or, in recordings of other tools, since their start; None if unknown."""
    direction: FrameDirection
    type: FrameType
    method: str = ""
    """The method; of an answer, the method that it answers; of an event of acp-tui, its name."""
    kind: str = ""
    """The kind of an update, the level of a notice, server and tool of an MCP call; else empty."""
    session: str = ""
    id: str = ""
    """The id of a request or an answer, as JSON; else empty."""
    size: int = 0
    """The size of the frame in bytes, also if only its beginning was recorded."""
    partner: int | None = None
    """The number of the answer to this request, or of the request that this row answers."""
    seconds: float | None = None
    """The time between the request and its answer, on both."""
    is_by_hand: bool = False
    """Whether the user wrote the message."""
    is_in_batch: bool = False
    """Whether the message was sent in one array with others."""


class Update(NamedTuple):
    """What `FrameLog.update` has changed.

    First the numbers change by `prepended`, then rows from `first_changed` on are new or different. Besides,
    any earlier request may have got its answer.
    """

    prepended: int = 0
    """The number of rows that were put in front of all others."""
    first_changed: int | None = None
    """The first new or different row, after the change of numbers; None if there is none."""
    restarted: bool = False
    """Whether the log was truncated or replaced, so that nothing of what was shown is valid."""


class FrameLog:
    """A wire log that may grow, be truncated or be replaced. Close it after use."""

    def __init__(self, path: Path, *, from_end: bool = True) -> None:
        """Open a log, and read so much that its last rows are known. Raises `OSError`.

        Without `from_end`, the first rows of a long log are known first, and numbers never change.
        """
        self.path = path
        self._from_end = from_end
        self._descriptor = -1
        self._index = FrameIndex()
        self._building: FrameIndex | None = None
        """The index from the beginning on, while `_index` has only the last rows."""
        self._index_path = path.with_name(INDEX_NAME) if path.name == WIRE else None
        self._saved_bytes = 0
        self._last_bytes = b""
        self._checked_end = 0
        self._stderr = StderrLines(stderr_file(path))
        self._stderr_start = 0
        """The first line of stderr that is shown."""
        self._rows_before = array("q")
        """For each shown line of stderr, the number of rows of the log before it."""
        self._open()

    def close(self) -> None:
        """Save the index, if it is worth it, and close the file."""
        if self._descriptor >= 0:
            self._save()
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        """Close the file of a log that was forgotten, such as that of a screen that was never opened."""
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def __enter__(self) -> FrameLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of rows that are known now."""
        return len(self._index) + len(self._rows_before)

    @property
    def is_complete(self) -> bool:
        """Whether all rows are known up to what the log contained at the last update."""
        return self._building is None and self._index.scanned >= self._size

    @property
    def progress(self) -> float:
        """How much of the log is indexed, from 0 to 1."""
        index = self._building or self._index
        return index.scanned / self._size if self._size else 1.0

    @property
    def started(self) -> float | None:
        """The time of the first row of the log, also before all rows are known; None if there is none."""
        clock = (self._building or self._index).clock
        first = bisect_right(clock, -math.inf)
        return clock[first] if first < len(clock) else None

    @property
    def stderr_lines(self) -> int:
        """The number of lines of stderr."""
        return len(self._stderr)

    # ----------------------------------------------------------------------- rows

    def row(self, number: int) -> FrameRow:
        """Return a row, without reading the log. Raises `IndexError`."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        position, is_stderr = self._position(number)
        if is_stderr:
            at = self._stderr.times[position]
            size = len(self._stderr.texts[position].encode())
            return FrameRow(number, -1 - position, _known(at), "stderr", "stderr", size=size)
        index = self._index
        direction, form, method, kind, is_in_batch = index.shape(position)
        at = index.times[position]
        partner = index.partners[position]
        seconds = None if partner < 0 else abs(at - index.times[partner])
        return FrameRow(
            number,
            index.offsets[position],
            _known(at),
            direction,
            form,
            method,
            kind,
            index.session(position),
            _shown_id(index.request_id(position)),
            index.sizes[position],
            None if partner < 0 else self._number(partner),
            seconds,
            position > 0 and direction == "sent" and index.shape(position - 1) == _BY_HAND,
            is_in_batch,
        )

    def number_of(self, place: int) -> int | None:
        """Return the number of the row with this `FrameRow.place`; None if it is not known (yet)."""
        if place < 0:
            line = -1 - place - self._stderr_start
            return self._rows_before[line] + line if 0 <= line < len(self._rows_before) else None
        offsets = self._index.offsets
        position = bisect_left(offsets, place)
        found = position < len(offsets) and offsets[position] == place
        return self._number(position) if found else None

    def text(self, number: int, max_bytes: int | None = None) -> str:
        """Return the JSON text of a frame as it was recorded, or its first bytes; of stderr, the line.

        The text is not safe to display. Raises `OSError`.
        """
        position, is_stderr = self._position(number)
        if is_stderr:
            return self._stderr.texts[position]
        if self._index.shape(position).type in ("stderr", "note"):
            return str(self.frame(number) or "")
        line = self._line(position, max_bytes)
        start, end = self._frame_span(position, line)
        if max_bytes is not None and len(line) < self._line_size(position):
            return line[start:].decode(errors="replace")
        text = line[start:end].decode(errors="replace")
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            frame = self.frame(number)
            return text if frame is None else json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
        return text

    def frame(self, number: int) -> Any:
        """Return the decoded frame; a string for noise, notes and stderr; None for a damaged line.

        Raises `OSError`.
        """
        position, is_stderr = self._position(number)
        if is_stderr:
            return self._stderr.texts[position]
        if self._index.shape(position).type == "damaged":
            return None
        line = self._line(position)
        try:
            if self._index.shape(position).is_in_batch:
                return json.loads(line[: self._index.sizes[position]])
            return frame_in(json.loads(line.lstrip(b"\0")))
        except (ValueError, RecursionError):
            return None

    def summary(self, number: int, length: int = MAX_SUMMARY) -> str:
        """Return what a frame says, on one line that is safe to display; empty if there is nothing.

        Of a message, these are the parameters without what the row shows, the result or the error. Reads at
        most `MAX_SUMMARISED_BYTES`. Raises `OSError`.
        """
        position, is_stderr = self._position(number)
        form = "stderr" if is_stderr else self._index.shape(position).type
        if form in ("stderr", "note", "damaged"):
            return escape_line(self.text(number, length)[:length])
        if self._line_size(position) <= MAX_SUMMARISED_BYTES:
            frame = self.frame(number)
        else:
            beginning = beginning_of(self._line(position, MAX_SUMMARISED_BYTES).decode(errors="replace"))
            is_in_batch = self._index.shape(position).is_in_batch
            frame = _with_marks(beginning if is_in_batch else frame_in(beginning))
        said = _said_in(frame, form)
        if said is None:
            return ""
        return escape_line(said[:length]) if isinstance(said, str) else visible_excerpt(said, length)

    def deviations(self, number: int) -> list[SchemaViolation]:
        """Return where a message deviates from the schema of its version of the protocol, on both sides.

        Not checked are messages of versions without a schema, and those of which only the beginning was
        recorded. Raises `OSError`.
        """
        position, is_stderr = self._position(number)
        if is_stderr:
            return []
        shape = self._index.shape(position)
        if shape.direction not in ("sent", "received"):
            return []
        frame = self.frame(number)
        version = self._version(position, frame)
        if version is None:
            return []
        if exceeds_depth(frame):
            return [SchemaViolation("deep-nesting", f"a message is nested more than {MAX_DEPTH} levels deep")]
        answered = shape.method if shape.type in ("answer", "error") else ""
        sender: Sender = "agent" if shape.direction == "received" else "client"
        frames = frame if isinstance(frame, list) and version == 2 else [frame]
        if shape.is_in_batch and version == 1:
            return [SchemaViolation("batch", "version 1 of the protocol has no batches")]
        return [
            found for each in frames for found in frame_violations(each, answered or None, sender, version)
        ]

    def _version(self, position: int, frame: Any) -> Version | None:
        """Return the version that `initialize` or the last answer to it names; None if it has no schema."""
        answers = self._index.initialize_answers
        before = bisect_right(answers, position)
        if self._index.shape(position)[1:3] == ("request", "initialize"):
            named = _version_in(frame, "params")
        elif before:
            named = _version_in(self.frame(self._number(answers[before - 1])), "result")
        else:
            named = 1
        return 1 if named in VERSION_1 else 2 if named == 2 else None

    # ----------------------------------------------------------------------- filtering

    def values(self) -> dict[str, list[str]]:
        """Return the values that occur, by the keys of a filter: for completions."""
        shapes = self._index.shapes
        typed = {direction: name for name, direction in DIRECTIONS.items()}
        stderr = {"stderr"} if self._rows_before else set()
        return {
            "method": sorted({shape.method for shape in shapes} - {""}),
            "kind": sorted({shape.kind for shape in shapes} - {""}),
            "dir": sorted({typed[shape.direction] for shape in shapes} | stderr),
            "type": sorted({shape.type for shape in shapes} | stderr),
            "session": sorted({*self._index.sessions} - {""}),
        }

    def rows_matching(self, wanted: FrameFilter, start: int = 0) -> Iterator[list[int]]:
        """Yield the numbers of the matching rows from `start` on, in order, in steps of about 10 ms.

        A step may find nothing. Rows that are added meanwhile are not searched. After an update that changes
        earlier rows, what was found is not valid from there on. Raises `OSError`.
        """
        index, lines = self._index, self._rows_before
        row, line = self._count_before(start)
        rows, last_line = len(index), len(lines)
        shapes: list[bool] = []
        sessions: list[bool] = []
        while row < rows or line < last_line:
            shapes += map(wanted.matches_shape, index.shapes[len(shapes) :])
            sessions += map(wanted.matches_session, index.sessions[len(sessions) :])
            step = self._end_of_step(index, row, rows) if wanted.has("") else min(row + _ROWS_PER_STEP, rows)
            found = index.rows_with(row, step, shapes, sessions)
            if wanted.has("id"):
                found = [each for each in found if wanted.matches_id(_shown_id(index.request_id(each)))]
            for is_excluded, needles in wanted.texts:
                having: set[int] = set()
                for more in self._rows_containing(index, row, step, needles) if found else ():
                    having |= more
                    yield []
                found = [each for each in found if (each in having) != is_excluded]
            end_line = last_line if step >= rows else bisect_right(lines, step, line, last_line)
            said = [each for each in range(line, end_line) if self._matches_stderr(wanted, each)]
            yield sorted([*(self._number(each) for each in found), *(lines[each] + each for each in said)])
            row, line = step, end_line

    def _end_of_step(self, index: FrameIndex, row: int, rows: int) -> int:
        """Return where the rows end whose text is searched in one step. A long line is a step of its own."""
        if row >= rows:
            return rows
        end = min(max(bisect_left(index.offsets, index.offsets[row] + STEP_BYTES), row + 1), rows)
        return end - 1 if end - row > 1 and self._line_size(end - 1) > MAX_PARSED_BYTES else end

    def _rows_containing(
        self, index: FrameIndex, row: int, end: int, needles: list[bytes]
    ) -> Iterator[set[int]]:
        """Yield the rows from `row` to before `end`, which are one step, whose frames contain a text.

        A long line is read in pieces, with a step after each.
        """
        start, stop = index.offsets[row], index.offsets[end - 1] + self._line_size(end - 1)
        if end - row == 1 and stop - start > MAX_PARSED_BYTES:
            start += self._frame_span(row, os.pread(self._descriptor, MAX_PREFIX_BYTES, start))[0]
            overlap = max(map(len, needles))
            while start < stop:
                piece = os.pread(self._descriptor, min(STEP_BYTES + overlap, stop - start), start).lower()
                if any(needle in piece for needle in needles):
                    yield {row}
                    return
                yield set()
                start += STEP_BYTES
            return
        block = os.pread(self._descriptor, stop - start, start)
        lower = block.lower()
        found: set[int] = set()
        position = 0
        while hits := [hit for needle in needles if (hit := lower.find(needle, position)) >= 0]:
            hit = min(hits)
            row = bisect_right(index.offsets, start + hit, row, end) - 1
            line = index.offsets[row] - start
            line_end = line + self._line_size(row)
            if line + self._frame_span(row, block[line : line + MAX_PREFIX_BYTES])[0] <= hit < line_end:
                found.add(row)
                position = line_end
            else:  # in what the record says before the frame
                position = hit + 1
        yield found

    def _matches_stderr(self, wanted: FrameFilter, line: int) -> bool:
        """Return True if a shown line of stderr matches."""
        if not (wanted.matches_shape(_STDERR_SHAPE) and wanted.matches_session("") and wanted.matches_id("")):
            return False
        text = self._stderr.texts[self._stderr_start + line].lower().encode()
        return all(
            any(each in text for each in needles) != is_excluded for is_excluded, needles in wanted.texts
        )

    # ----------------------------------------------------------------------- places

    def _count_before(self, number: int) -> tuple[int, int]:
        """Return how many rows of the index and how many shown lines of stderr come before a number."""
        lines = self._rows_before
        # The number of a shown line of stderr is `lines[line] + line`.
        line = bisect_left(range(len(lines)), number, key=lambda each: lines[each] + each)
        return number - line, line

    def _position(self, number: int) -> tuple[int, bool]:
        """Return the row of the index, or the line of stderr and True, with this number."""
        row, line = self._count_before(number)
        if line < len(self._rows_before) and self._rows_before[line] == row:
            return self._stderr_start + line, True
        return row, False

    def _number(self, position: int) -> int:
        """Return the number of a row of the index."""
        return position + bisect_right(self._rows_before, position)

    def _line_size(self, position: int) -> int:
        index = self._index
        if position + 1 < len(index):
            end = index.line_start(position + 1)
        else:
            end = index.covered if position < index.settled_rows else index.scanned
        return end - index.offsets[position]

    def _line(self, position: int, max_bytes: int | None = None) -> bytes:
        size = self._line_size(position)
        if max_bytes is not None and size > max_bytes:
            size = max_bytes
        return os.pread(self._descriptor, size, self._index.offsets[position])

    def _frame_span(self, position: int, line: bytes) -> tuple[int, int]:
        """Return where the frame of a row starts and ends in what `_line` returns."""
        if self._index.shape(position).is_in_batch:
            return 0, self._index.sizes[position]
        return frame_span(line)

    # ----------------------------------------------------------------------- growing

    def update(self, max_bytes: int = STEP_BYTES) -> Update:
        """Read what was appended, and more of the beginning if it is not indexed yet.

        A screen calls this again and again: at once while `is_complete` is false, else some times a second.
        A log that cannot be read any more stays as it is.
        """
        if self._was_replaced():
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
            with suppress(OSError):
                self._open()
            return Update(0, 0, restarted=True)
        if self._descriptor < 0:
            return Update()
        self._size = os.fstat(self._descriptor).st_size
        settled, scanned = self._index.settled_rows, self._index.scanned
        if self._index.read(self._descriptor, self._size, max_bytes):
            self._index.add_unended()
        is_changed = self._index.scanned != scanned
        self._remember_end()
        if self._building is not None and self._building.read(self._descriptor, self._size, max_bytes):
            return self._complete()
        first_stderr = self._place_stderr(settled)
        first = min(self._number(settled), len(self)) if is_changed else first_stderr
        if is_changed and first_stderr is not None:
            first = min(first or 0, first_stderr)
        return Update(0, first)

    def _open(self) -> None:
        """Open the log, and index it if it is short; else, index its last rows only."""
        self._descriptor = open_own(self.path, os.O_RDONLY, MAX_RECORDING_BYTES)
        self._size = os.fstat(self._descriptor).st_size
        saved = load_index(self._index_path, self._descriptor) if self._index_path is not None else None
        self._saved_bytes = saved.covered if saved is not None else 0
        self._index, self._building = saved or FrameIndex(), None
        if self._from_end and self._size - self._saved_bytes > MAX_WHOLE_BYTES:
            self._building = self._index
            self._building.read(self._descriptor, self._size, BLOCK_BYTES)  # for the time of the first row
            self._index = FrameIndex(self._start_of_tail(self._building.covered))
        if self._index.read(self._descriptor, self._size, self._size if self._from_end else MAX_WHOLE_BYTES):
            self._index.add_unended()
        self._remember_end()
        self._rows_before = array("q")
        self._place_stderr(0)

    def _start_of_tail(self, covered: int) -> int:
        """Return where the last rows start, with which a long log is first shown."""
        position = start = self._size
        lines = 0
        while position > covered and lines <= TAIL_ROWS:
            if lines > 1 and self._size - position > MAX_TAIL_BYTES:
                break
            position = max(position - BLOCK_BYTES, covered)
            block = os.pread(self._descriptor, BLOCK_BYTES, position)
            if (found := block.find(b"\n")) >= 0:
                start = position + found + 1
                lines += block.count(b"\n")
        return covered if position == covered else start

    def _complete(self) -> Update:
        """Replace the index of the last rows by the one of all rows."""
        assert self._building is not None
        top = self.row(0).place if len(self) else None
        self._index, self._building = self._building, None
        self._save()
        self._index.add_unended()
        self._rows_before = array("q")
        self._place_stderr(0)
        number = self.number_of(top) if top is not None else None
        return Update(number or 0, 0)

    def _place_stderr(self, settled: int) -> int | None:
        """Place the lines of stderr among the rows of the log, of which the first `settled` are as before.

        Return the first number that has changed; None if none has.
        """
        changed = self._stderr.update()
        times = self._stderr.times
        is_tail = self._building is not None and len(self._index) > 0
        first_line = bisect_left(times, self._index.clock[0]) if is_tail else 0
        if first_line != self._stderr_start:
            self._stderr_start, settled = first_line, 0
        kept = bisect_left(self._rows_before, settled)
        if changed is not None:
            kept = min(kept, max(changed - first_line, 0))
        old = self._rows_before[kept:]
        del self._rows_before[kept:]
        self._rows_before.extend(bisect_right(self._index.clock, at) for at in times[first_line + kept :])
        new = self._rows_before[kept:]
        pairs = enumerate(zip(old, new, strict=False))
        same = next((line for line, pair in pairs if pair[0] != pair[1]), min(len(old), len(new)))
        if changed is not None:
            same = min(same, max(changed - first_line - kept, 0))
        places = [*old[same : same + 1], *new[same : same + 1]]
        return min(places) + kept + same if places else None

    def _was_replaced(self) -> bool:
        """Return True if the log is not the one that was read any more. A deleted log stays as it is."""
        try:
            status = self.path.stat()
        except OSError:
            return False
        if self._descriptor < 0:
            return True
        own = os.fstat(self._descriptor)
        if not os.path.samestat(status, own) or own.st_size < self._index.scanned:
            return True
        return self._read_last_bytes() != self._last_bytes

    def _read_last_bytes(self) -> bytes:
        """Return the last bytes before the end of what was read when `_last_bytes` was set."""
        start = max(self._checked_end - _CHECKED_BYTES, 0)
        return os.pread(self._descriptor, self._checked_end - start, start)

    def _remember_end(self) -> None:
        self._checked_end = self._index.scanned
        self._last_bytes = self._read_last_bytes()

    def _save(self) -> None:
        """Save the index, if there is a place for it, and it covers much that is not saved."""
        index = self._index if self._building is None else self._building  # not that of the last rows
        if self._index_path is None or index.covered - self._saved_bytes < SAVED_BYTES:
            return
        with suppress(OSError):
            index.save(self._index_path, self._descriptor)
            self._saved_bytes = index.covered


def _shown_id(identity: int | str | None) -> str:
    return "" if identity is None else visible_excerpt(identity, MAX_SHOWN_ID)


def _known(at: float) -> float | None:
    return at if math.isfinite(at) else None


def _version_in(frame: Any, field: str) -> Any:
    """Return the version of the protocol that a request or an answer names; 1 if it names none."""
    content = frame.get(field) if isinstance(frame, dict) else None
    return content.get("protocolVersion", 1) if isinstance(content, dict) else 1


def _with_marks(value: Any) -> Any:
    """Return the beginning of a value with a mark for each list and each text that is not complete."""
    if isinstance(value, dict):
        return {key: _with_marks(item) for key, item in value.items()}
    return CUT if value is None or value == [] else value


def _said_in(frame: Any, form: FrameType) -> Any:
    """Return the part of a frame that its row does not show."""
    if not isinstance(frame, dict):
        return frame
    if form in ("event", "mcp"):
        text = frame.get("text")
        return text if isinstance(text, str) else {key: frame[key] for key in frame if key != "event"} or None
    if form == "answer":
        return frame.get("result")
    if form == "error":
        return frame.get("error")
    params = frame.get("params")
    if form not in ("request", "notification") or not isinstance(params, dict):
        return params if form in ("request", "notification") else frame
    said = {key: value for key, value in params.items() if key != "sessionId"}
    if isinstance(update := said.get("update"), dict):
        return {key: value for key, value in update.items() if key != "sessionUpdate"}
    return said

"""The index of a wire log: where each line starts, and what a list of frames shows of it.

A record of acp-tui is `{"t": …, "dir": "sent" | "received" | "client", "frame": …}`. Other tools write
`{"t": …, "dir": "c2a" | "a2c", "msg": …}`, and lines of text with the `dir` "stderr" or "note".

A line has one row or, if it holds a JSON-RPC batch, one for each message of the batch.

The columns are arrays, so that a million frames take about 50 MB. They can be saved beside the log.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
import tempfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from acp_tui.config.own_files import open_own
from acp_tui.protocol.json_rpc import SHORTENED, is_id, own_id
from acp_tui.session.safe_text import escape_line

FrameDirection = Literal["sent", "received", "client", "stderr", "log"]
"""Who a row is from: acp-tui, the agent, acp-tui's own events, the agent's stderr, or the recording."""
FrameType = Literal[
    "request",
    "answer",
    "error",
    "notification",
    "other",
    "noise",
    "event",
    "mcp",
    "stderr",
    "note",
    "damaged",
]
"""An "error" is an answer with an error. "other" is JSON but no message, "noise" was not JSON, an "mcp" is a
call of a bridged MCP server, a "note" is a remark of another tool, "damaged" a line that cannot be read."""

MAX_PARSED_BYTES = 1 << 20
"""Of a longer line, only the beginning and the end are read."""
HEAD_BYTES = 64 * 1024
TAIL_BYTES = 1024
BLOCK_BYTES = 1 << 18
MAX_PREFIX_BYTES = 300
"""Where the frame of a record starts at the latest."""
MAX_NAME = 200
"""The maximum length of a method, an update kind or a session id in a row."""
MAX_ID = 1000
MAX_NAMES = 50_000
"""The maximum number of different methods, and of different sessions. Rows beyond it have an empty name."""

MAX_BATCH = 1000
"""A longer batch is one row."""

MAX_SECONDS = 1e13
"""A time beyond it is damaged: its digits would fill the row. Milliseconds since the epoch are below it."""

INDEX_NAME = "wire.index"
_FORMAT = 2
_MAGIC = b"acp-tui wire index\n"
_MAX_HEADER_BYTES = 256 * 1024 * 1024
_SAMPLES = 128
_SAMPLE_BYTES = 8192
"""Up to `_SAMPLES * _SAMPLE_BYTES`, all of a log is compared with a saved index; of a longer one, samples."""

_DIRECTIONS: dict[str, FrameDirection] = {
    "sent": "sent",
    "received": "received",
    "client": "client",
    "c2a": "sent",
    "a2c": "received",
    "stderr": "stderr",
    "note": "log",
}
_OPPOSITE = {"sent": "received", "received": "sent"}
_MCP_EVENTS = frozenset({"mcp_called", "own_tool_called", "own_tool_ended"})
_NO_ID = -(1 << 63)
_FIRST_LISTED_ID = -(1 << 62)
_FRAME_KEY = re.compile(rb'"(?:frame|msg|text)"\s*:\s*')
_BEFORE_JSON = b"\0 \t\xef\xbb\xbf"
"""What is ignored before a record: zeros, which are left by a power failure, and a byte order mark."""
_BEFORE_ITEM = re.compile(r"\s*[\[,]\s*")
_decode_json = json.JSONDecoder().raw_decode


class Shape(NamedTuple):
    """What many rows have in common."""

    direction: FrameDirection
    type: FrameType
    method: str = ""  # of an answer: the method that it answers
    kind: str = ""  # of an update, or of an event
    is_in_batch: bool = False


_DAMAGED = Shape("log", "damaged")


class _Facts(NamedTuple):
    """What the index keeps of one line."""

    at: float | None
    shape: Shape
    session: str = ""
    id: int | str | None = None
    size: int | None = None
    """The size of what was recorded; None if the size of the frame in the line is meant."""
    batch: list[Any] | None = None


def frame_span(line: bytes) -> tuple[int, int]:
    """Return where the frame in a line starts and ends; the whole line if it is no record."""
    end = len(line.rstrip())
    key = _FRAME_KEY.search(line, 0, MAX_PREFIX_BYTES)
    return (key.end(), end - 1) if key is not None else (0, end)


def frame_in(record: Any) -> Any:
    """Return the frame of a decoded record; of a line of text, the text; None if it is no record."""
    if not isinstance(record, dict):
        return None
    for key in ("frame", "msg", "text"):
        if key in record:
            return record[key]
    return None


# --------------------------------------------------------------------------- reading a line


def _read_line(line: bytes) -> _Facts:
    """Read a whole line."""
    try:
        text = line.lstrip(_BEFORE_JSON).decode()
        record, end = _decode_json(text)
        if text[end:].strip():
            return _Facts(None, _DAMAGED)
    except (ValueError, RecursionError):
        return _Facts(None, _DAMAGED)
    if not isinstance(record, dict):
        return _Facts(None, _DAMAGED)
    direction = record.get("dir")
    known = _DIRECTIONS.get(direction) if isinstance(direction, str) else None
    at = _seconds(record.get("t"))
    if known is None or at is None:
        return _Facts(None, _DAMAGED)
    if known in ("stderr", "log"):
        said = record.get("text")
        return _Facts(
            at,
            Shape(known, "stderr" if known == "stderr" else "note"),
            size=len(said.encode(errors="replace")) if isinstance(said, str) else None,
        )
    key = "frame" if "frame" in record else "msg"
    if key not in record:
        return _Facts(None, _DAMAGED)
    frame = record[key]
    facts = _facts_of(at, known, frame)
    size = frame.get(SHORTENED) if isinstance(frame, dict) else None
    return facts._replace(size=size) if isinstance(size, int) else facts


def _seconds(value: Any) -> float | None:
    """Return a time in a record; None if it is no time."""
    if type(value) not in (int, float):
        return None
    try:
        at = float(value)
    except OverflowError:
        return None
    return at if abs(at) < MAX_SECONDS else None


def _facts_of(at: float, direction: FrameDirection, frame: Any) -> _Facts:
    if direction == "client":
        return _Facts(at, _event_shape(frame))
    if isinstance(frame, str):
        return _Facts(at, Shape(direction, "noise"))
    if not isinstance(frame, dict):
        return _Facts(at, Shape(direction, "other"), batch=frame if isinstance(frame, list) else None)
    method = frame.get("method")
    identity = frame.get("id")
    known_id = identity if is_id(identity) else None
    if isinstance(method, str):
        params = frame.get("params")
        session = params.get("sessionId") if isinstance(params, dict) else None
        update = params.get("update") if isinstance(params, dict) else None
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        form: FrameType = "notification" if known_id is None else "request"
        return _Facts(at, Shape(direction, form, _name(method), _name(kind)), _name(session), known_id)
    if "error" in frame or "result" in frame:
        result = frame.get("result")
        session = result.get("sessionId") if isinstance(result, dict) else None
        form = "error" if "error" in frame else "answer"
        return _Facts(at, Shape(direction, form), _name(session), known_id)
    return _Facts(at, Shape(direction, "other"), id=known_id)


class _BatchItem(NamedTuple):
    """A message of a batch, and where it is in its line."""

    start: int
    size: int
    facts: _Facts


def _batch_items(line: bytes, facts: _Facts) -> list[_BatchItem]:
    """Return the messages of a line with a batch; none if it is unclear where they are."""
    if not facts.batch or len(facts.batch) > MAX_BATCH or facts.at is None:
        return []
    start, end = frame_span(line)
    text = line[start:end].decode()
    items: list[_BatchItem] = []
    found: list[Any] = []
    position = 0
    try:
        while separator := _BEFORE_ITEM.match(text, position):
            begin = separator.end()
            start += len(separator[0].encode())
            item, position = _decode_json(text, begin)
            size = len(text[begin:position].encode())
            own = _facts_of(facts.at, facts.shape.direction, item)
            items.append(_BatchItem(start, size, own._replace(shape=own.shape._replace(is_in_batch=True))))
            found.append(item)
            start += size
    except (ValueError, RecursionError):
        return []
    return items if found == facts.batch else []


def _event_shape(event: Any) -> Shape:
    if not isinstance(event, dict):
        return Shape("client", "event")
    name = _name(event.get("event"))
    if name in _MCP_EVENTS:
        names = [_name(event.get(key)) for key in ("server", "tool")]
        return Shape("client", "mcp", name, "/".join(filter(None, names)))
    return Shape("client", "event", name, _name(event.get("level")))


def _name(value: Any) -> str:
    return escape_line(value[:MAX_NAME]) if isinstance(value, str) else ""


_TOKEN = re.compile(r'\s*([{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+)')
_LAST_ID = re.compile(
    rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\}\s*$'
)
_MAX_HEAD_DEPTH = 32


def _read_long_line(head: bytes, tail: bytes) -> _Facts:
    """Read a line of which only the beginning and the end are known."""
    record = beginning_of(head.lstrip(_BEFORE_JSON).decode(errors="replace"))
    direction = record.get("dir")
    known = _DIRECTIONS.get(direction) if isinstance(direction, str) else None
    at = _seconds(record.get("t"))
    if known is None or at is None:
        return _Facts(None, _DAMAGED)
    if known in ("stderr", "log"):
        return _Facts(at, Shape(known, "stderr" if known == "stderr" else "note"))
    frame = record.get("frame", record.get("msg"))
    if isinstance(frame, dict) and "id" not in frame and (found := _LAST_ID.search(tail)):
        frame["id"] = json.loads(found[1])
    return _facts_of(at, known, "" if frame is None else frame)


def beginning_of(text: str) -> dict[str, Any]:
    """Return what the beginning of a JSON object contains. Lists are empty; a text that is cut is None."""
    top: dict[str, Any] = {}
    stack: list[dict[str, Any] | None] = []  # the open objects, and None for open lists
    key: str | None = None
    position = 0
    while len(stack) <= _MAX_HEAD_DEPTH and (token := _TOKEN.match(text, position)):
        position = token.end()
        part = token[1]
        inner = stack[-1] if stack else None
        if part in "{[":
            opened: dict[str, Any] | None = {} if part == "{" else None
            if not stack:
                if opened is None:
                    break
                opened = top
            elif inner is not None and key is not None:
                inner[key] = [] if opened is None else opened
            stack.append(opened)
            key = None
        elif part in "}]":
            stack.pop()
            key = None
            if not stack:
                break
        elif part == ",":
            key = None
        elif part != ":" and inner is not None:
            value = _scalar(part)
            if key is None:
                key = value if isinstance(value, str) else ""
                inner.setdefault(key, None)
            else:
                inner[key] = value
    return top


def _scalar(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


# --------------------------------------------------------------------------- the index


class _BeforeLast(NamedTuple):
    """The state before the last line, which may not be complete."""

    rows: int
    open: dict[tuple[str, int | str], tuple[int, ...]]


class FrameIndex:
    """The columns of the lines of a log, from one of its lines on. Rows are numbered from 0.

    The same bytes give the same columns, whatever the pieces in which they are read.
    """

    def __init__(self, start: int = 0) -> None:
        """Index the lines from the byte `start` on, where a line begins."""
        self.offsets = array("q")
        """Where the line of each row starts; of a message of a batch, where the message starts."""
        self.times = array("d")
        """The time of each row; NaN for a damaged line."""
        self.clock = array("d")
        """The latest time up to each row, which never goes back."""
        self.sizes = array("I")
        self.partners = array("i")
        """The request of an answer, the answer of a request; -1 if there is none."""
        self.shapes: list[Shape] = []
        self.sessions: list[str] = [""]
        self._shape_of = array("H")
        self._session_of = array("H")
        self.initialize_answers: list[int] = []
        """The rows with answers to `initialize`, which say what version of the protocol follows."""
        self._batch_lines: dict[int, int] = {}  # for the first row of each batch, where its line starts
        self._ids = array("q")
        self._listed_ids: list[int | str] = []
        self._shape_numbers: dict[Shape, int] = {}
        self._session_numbers: dict[str, int] = {"": 0}
        self._open: dict[tuple[str, int | str], tuple[int, ...]] = {}  # requests without an answer
        self.covered = start
        """Where the first line starts that is not in the index."""
        self._pending = bytearray()  # the beginning of that line; of a long one, its head and its end
        self._pending_size = 0
        self._before_last: _BeforeLast | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def scanned(self) -> int:
        """The number of bytes of the log that have been read."""
        return self.covered + self._pending_size

    @property
    def settled_rows(self) -> int:
        """The number of rows that stay as they are when the log grows, apart from their answers."""
        return len(self) if self._before_last is None else self._before_last.rows

    def line_start(self, row: int) -> int:
        """Return where the line of a row starts; of a message of a batch after the first, `offsets[row]`."""
        return self._batch_lines.get(row, self.offsets[row])

    def shape(self, row: int) -> Shape:
        return self.shapes[self._shape_of[row]]

    def session(self, row: int) -> str:
        return self.sessions[self._session_of[row]]

    def request_id(self, row: int) -> int | str | None:
        """Return the id of the request or answer, which is not safe to display if it is a string."""
        number = self._ids[row]
        if number == _NO_ID:
            return None
        return self._listed_ids[_FIRST_LISTED_ID - number] if number <= _FIRST_LISTED_ID else number

    def rows_with(
        self, first: int, end: int, shapes: Sequence[bool] | None, sessions: Sequence[bool] | None
    ) -> list[int]:
        """Return the rows from `first` to before `end` whose shape and session are marked as true."""
        if shapes is None and sessions is None:
            return list(range(first, end))
        if sessions is None:
            assert shapes is not None
            return [row for row, shape in enumerate(self._shape_of[first:end], first) if shapes[shape]]
        pairs = zip(self._shape_of[first:end], self._session_of[first:end], strict=True)
        return [
            row
            for row, (shape, session) in enumerate(pairs, first)
            if sessions[session] and (shapes is None or shapes[shape])
        ]

    def read(self, descriptor: int, end: int, max_bytes: int) -> bool:
        """Index more of the file, up to the byte `end`. Return True if all lines up to `end` are indexed."""
        limit = min(end, self.scanned + max_bytes)
        while (position := self.scanned) < limit:
            block = os.pread(descriptor, min(BLOCK_BYTES, limit - position), position)
            if not block:
                return True
            self._feed(block)
        return self.scanned >= end

    def _feed(self, block: bytes) -> None:
        self._remove_unended()
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            if self._pending_size:
                self._extend_pending(block[start:end])
                self._take_pending()
            else:
                self._add(block[start:end], end - start)
            self.covered += end + 1 - start if not self._pending_size else self._pending_size + 1
            self._pending.clear()
            self._pending_size = 0
            start = end + 1
        self._extend_pending(block[start:])

    def _extend_pending(self, piece: bytes) -> None:
        self._pending += piece
        self._pending_size += len(piece)
        if len(self._pending) > MAX_PARSED_BYTES:
            del self._pending[HEAD_BYTES:-TAIL_BYTES]

    def _take_pending(self) -> None:
        self._add(bytes(self._pending), self._pending_size)

    def add_unended(self) -> None:
        """Add the last line although no line end follows, if it is a whole record.

        `read` replaces the row when the log has grown.
        """
        if self._pending_size and self._before_last is None and not self._is_torn():
            self._before_last = _BeforeLast(len(self), dict(self._open))
            self._take_pending()

    def _is_torn(self) -> bool:
        line = bytes(self._pending)
        return self._pending_size > MAX_PARSED_BYTES or _read_line(line).shape == _DAMAGED

    def _remove_unended(self) -> None:
        """Remove the rows that `add_unended` has added."""
        if self._before_last is None:
            return
        rows, self._open = self._before_last
        self._before_last = None
        for last in range(len(self) - 1, rows - 1, -1):
            if self.partners[last] >= 0:
                self.partners[self.partners[last]] = -1
            for column in self._columns():
                column.pop()
            self.clock.pop()
            self._batch_lines.pop(last, None)
            if self.initialize_answers[-1:] == [last]:
                self.initialize_answers.pop()

    def _add(self, line: bytes, size: int) -> None:
        """Add the rows for a line. Of a long line, `line` is only the beginning and the end."""
        if size > MAX_PARSED_BYTES:
            head, tail = line[:HEAD_BYTES], line[-TAIL_BYTES:]
            line = head + tail  # however much is left of it, which depends on the pieces that were read
            facts = _read_long_line(head, tail)
        elif not line or line.isspace():
            return
        else:
            facts = _read_line(line)
        if items := _batch_items(line, facts):
            self._batch_lines[len(self)] = self.covered
            for item in items:
                self._add_row(item.facts._replace(size=item.size), self.covered + item.start)
            return
        if facts.size is None:
            start, end = frame_span(line)
            facts = facts._replace(size=size - start - (len(line) - end))
        self._add_row(facts, self.covered)

    def _add_row(self, facts: _Facts, offset: int) -> None:
        at, shape, session, identity = facts[:4]
        row = len(self.offsets)
        if isinstance(identity, str):
            identity = identity[:MAX_ID]
        partner = -1
        if identity is not None and shape.type in ("answer", "error"):
            partner = self._take_request(shape.direction, identity)
            if partner >= 0:
                self.partners[partner] = row
                shape = shape._replace(method=self.shape(partner).method)
                session = session or self.session(partner)
                if shape.method == "initialize":
                    self.initialize_answers.append(row)
        elif identity is not None and shape.type == "request":
            key = (shape.direction, identity)
            self._open[key] = (*self._open.get(key, ()), row)
        elif shape.method == "agent_started" and shape.type == "event":
            self._open = {}  # another process, which counts its ids from the beginning
        self.offsets.append(offset)
        self.times.append(math.nan if at is None else at)
        last = self.clock[-1] if row else -math.inf
        self.clock.append(last if at is None or at < last else at)
        self.sizes.append(min(max(facts.size or 0, 0), 0xFFFF_FFFF))
        self.partners.append(partner)
        self._shape_of.append(self._shape_number(shape))
        self._session_of.append(self._session_number(session))
        self._ids.append(self._id_number(identity))

    def _take_request(self, direction: str, identity: int | str) -> int:
        """Return the row of the first unanswered request with an id, and forget it; -1 if there is none."""
        asked = _OPPOSITE[direction]
        key = (asked, identity)
        if key not in self._open and isinstance(identity, str):
            key = (asked, own_id(identity, ()))
        rows = self._open.pop(key, ())
        if len(rows) > 1:
            self._open[key] = rows[1:]
        return rows[0] if rows else -1

    def _shape_number(self, shape: Shape) -> int:
        number = self._shape_numbers.get(shape)
        if number is None:
            if len(self.shapes) >= MAX_NAMES and (shape.method or shape.kind):
                return self._shape_number(Shape(shape.direction, shape.type))
            number = self._shape_numbers[shape] = len(self.shapes)
            self.shapes.append(shape)
        return number

    def _session_number(self, session: str) -> int:
        number = self._session_numbers.get(session)
        if number is None:
            if len(self.sessions) >= MAX_NAMES:
                return 0
            number = self._session_numbers[session] = len(self.sessions)
            self.sessions.append(session)
        return number

    def _id_number(self, identity: int | str | None) -> int:
        if identity is None:
            return _NO_ID
        if isinstance(identity, int) and abs(identity) < 1 << 61:
            return identity
        self._listed_ids.append(identity)
        return _FIRST_LISTED_ID - len(self._listed_ids) + 1

    def _columns(self) -> tuple[array[Any], ...]:
        """Return the columns that are saved."""
        return (
            self.offsets,
            self.times,
            self.sizes,
            self.partners,
            self._shape_of,
            self._session_of,
            self._ids,
        )

    # ----------------------------------------------------------------------- the saved index

    def save(self, path: Path, descriptor: int) -> None:
        """Save the index of the open log in a file, which replaces an older one. Raises `OSError`."""
        self._remove_unended()
        body = b"".join(column.tobytes() for column in self._columns())
        header = {
            "format": _FORMAT,
            "byte_order": sys.byteorder,
            "covered": self.covered,
            "samples": _samples(descriptor, self.covered),
            "rows": len(self),
            "check": zlib.crc32(body),
            "shapes": self.shapes,
            "sessions": self.sessions,
            "ids": self._listed_ids,
            "initialize_answers": self.initialize_answers,
            "batch_lines": [*self._batch_lines.items()],
            "open": [[*key, *rows] for key, rows in self._open.items()],
        }
        temporary_file, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
        try:
            with open(temporary_file, "wb") as file:
                file.write(_MAGIC + json.dumps(header).encode() + b"\n")
                file.write(body)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def load_index(path: Path, descriptor: int) -> FrameIndex | None:
    """Return the index that is saved in a file; None if there is none, or if it is not of the open log."""
    with suppress(OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError):
        with open(open_own(path, os.O_RDONLY, _MAX_HEADER_BYTES), "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return None
            header = json.loads(file.readline(_MAX_HEADER_BYTES))
            body = file.read()
        if _fits(header, body, descriptor):
            return _restored(header, body)
    return None


def _fits(header: Any, body: bytes, descriptor: int) -> bool:
    covered = header["covered"]
    return bool(
        header["format"] == _FORMAT
        and header["byte_order"] == sys.byteorder
        and header["check"] == zlib.crc32(body)
        and 0 <= covered <= os.fstat(descriptor).st_size
        and header["samples"] == _samples(descriptor, covered)
    )


def _restored(header: Any, body: bytes) -> FrameIndex | None:
    """Return the index with these columns; None if they do not fit together."""
    index = FrameIndex()
    rows = header["rows"]
    position = 0
    for column in index._columns():
        end = position + rows * column.itemsize
        column.frombytes(body[position:end])
        position = end
    index.covered = header["covered"]
    index.shapes = [Shape(*shape) for shape in header["shapes"]]
    index.sessions = header["sessions"]
    index._listed_ids = header["ids"]
    index.initialize_answers = header["initialize_answers"]
    index._batch_lines = dict(header["batch_lines"])
    index._open = {(asked, identity): tuple(waiting) for asked, identity, *waiting in header["open"]}
    index._shape_numbers = {shape: number for number, shape in enumerate(index.shapes)}
    index._session_numbers = {session: number for number, session in enumerate(index.sessions)}
    clock = accumulate(index.times, _later, initial=-math.inf)
    index.clock = array("d", islice(clock, 1, None))
    return index if position == len(body) and _is_consistent(index) else None


def _later(last: float, at: float) -> float:
    return max(last, at)  # `last` if `at` is NaN


def _is_consistent(index: FrameIndex) -> bool:
    """Return True if each row names things that exist."""
    rows = len(index)
    if not rows:
        return not index._open
    waiting = [row for rows_of_id in index._open.values() for row in rows_of_id]
    return (
        index.offsets[0] >= 0
        and index.offsets[-1] < index.covered
        and all(first < second for first, second in pairwise(index.offsets))
        and max(index._shape_of) < len(index.shapes)
        and max(index._session_of) < len(index.sessions)
        and min(index.partners) >= -1
        and max(index.partners) < rows
        and min((number for number in index._ids if number != _NO_ID), default=0)
        > _FIRST_LISTED_ID - len(index._listed_ids)
        and all(0 <= row < rows for row in [*waiting, *index.initialize_answers, *index._batch_lines])
        and all(0 <= start < index.offsets[row] for row, start in index._batch_lines.items())
    )


def _samples(descriptor: int, covered: int) -> str:
    """Return a digest of the log up to the byte `covered`: of all of it, or of blocks all over a long one."""
    digest = hashlib.sha256(str(covered).encode())
    step = max((covered - _SAMPLE_BYTES) // (_SAMPLES - 1), _SAMPLE_BYTES)
    starts: Iterator[int] = iter(range(0, covered, step))
    for start in [*starts, max(covered - _SAMPLE_BYTES, 0)]:
        digest.update(os.pread(descriptor, min(_SAMPLE_BYTES, covered - start), start))
    return digest.hexdigest()

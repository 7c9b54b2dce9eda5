"""The index of a log: the same rows whatever the pieces in which a log is read, and only for its own log."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.wire import frame_index, frame_log
from acp_tui.wire.frame_log import FrameLog, FrameRow
from tests.support.talk import properties
from tests.support.wire_lines import answer, line, read_all, request, rows, update, write_log

LONG = "x" * 600
ids = st.sampled_from([0, 1, 2, "1", "a"])
methods = st.sampled_from(["initialize", "session/new", LONG])
frames = st.one_of(
    st.builds(request, ids, methods),
    st.builds(answer, ids, st.sampled_from([None, {"sessionId": "s-1"}, {"text": LONG}])),
    st.builds(update, st.sampled_from(["plan", "tool_call"]), st.sampled_from(["s-1", "s-2"])),
    st.sampled_from(
        [{"event": "agent_started"}, {"event": "noticed", "text": LONG}, "noise", "é" * 400, 7, []]
    ),
)
frames = frames | st.lists(frames, max_size=4)
records = st.builds(line, st.floats(0, 100), st.sampled_from(["sent", "received", "client"]), frames)
foreign = st.builds(
    lambda at, way, frame: json.dumps({"t": at, "dir": way, "msg": frame}).encode() + b"\n",
    st.floats(0, 100),
    st.sampled_from(["c2a", "a2c"]),
    frames,
)
garbage = st.sampled_from([b"\n", b"{\n", b"\0\0\0\n", b"\xff\n", LONG.encode() + b"\n", b" \r\n", b"[1]\n"])
logs = st.lists(records | foreign | garbage, max_size=20)


def small_limits(patch: pytest.MonkeyPatch) -> None:
    """Make short logs and lines count as long ones."""
    patch.setattr(frame_index, "MAX_PARSED_BYTES", 500)
    patch.setattr(frame_index, "HEAD_BYTES", 200)
    patch.setattr(frame_index, "TAIL_BYTES", 100)
    patch.setattr(frame_index, "BLOCK_BYTES", 170)
    patch.setattr(frame_log, "BLOCK_BYTES", 170)
    patch.setattr(frame_log, "MAX_WHOLE_BYTES", 1000)
    patch.setattr(frame_log, "TAIL_ROWS", 3)
    patch.setattr(frame_log, "SAVED_BYTES", 1)


patiently = settings(properties, suppress_health_check=[HealthCheck.too_slow])
"""On a busy machine, making the examples takes long."""


class Mirror:
    """What a screen keeps of a log: the rows as they were when an update reported them."""

    def __init__(self, log: FrameLog) -> None:
        self.log = log
        self.rows: list[FrameRow] = rows(log)

    def update(self, max_bytes: int) -> None:
        changed = self.log.update(max_bytes)
        if changed.restarted:
            self.rows = []
        known = len(self.rows)
        first = changed.first_changed
        if changed.prepended:
            assert first == 0
            assert self.places(self.rows) == self.places(rows(self.log))[changed.prepended :][:known]
        if first is not None:
            self.rows[first:] = rows(self.log)[first:]

    @staticmethod
    def places(shown: list[FrameRow]) -> list[int]:
        return [row.place for row in shown]


def without_answers(shown: list[FrameRow]) -> list[FrameRow]:
    """Return the rows without what an answer changes in a request."""
    return [replace(row, partner=None, seconds=None) if row.type == "request" else row for row in shown]


def as_shown(shown: list[FrameRow]) -> list[Any]:
    """Return the rows so that they can be compared: NaN is not equal to itself."""
    return [repr(row) for row in shown]


@patiently
@given(
    given_lines=logs,
    cuts=st.lists(st.integers(0, 8000), max_size=12),
    whole_lines=st.lists(st.integers(0, 19), max_size=4),
    stderr=st.lists(st.integers(0, 100), max_size=6),
    max_bytes=st.sampled_from([1, 100, 1 << 20]),
    torn=st.booleans(),
)
def test_a_growing_log_has_the_rows_of_the_whole_one(
    tmp_path_factory: pytest.TempPathFactory,
    given_lines: list[bytes],
    cuts: list[int],
    whole_lines: list[int],
    stderr: list[int],
    max_bytes: int,
    torn: bool,
) -> None:
    folder = tmp_path_factory.mktemp("log")
    data = b"".join(given_lines)
    data = data[: len(data) - 3] if torn else data
    line_ends = [len(b"".join(given_lines[: number + 1])) - 1 for number in whole_lines]
    ends = sorted({0, len(data), *(cut for cut in [*cuts, *line_ends] if 0 < cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(ends)]
    path = write_log(folder / "wire.jsonl", [])
    said = folder / "stderr.log"
    with pytest.MonkeyPatch.context() as patch:
        small_limits(patch)
        mirror = Mirror(FrameLog(path))
        for number, piece in enumerate(pieces):
            with path.open("ab") as file:
                file.write(piece)
            if number < len(stderr):
                with said.open("a") as file:
                    file.write(f"1970-01-01T00:00:{stderr[number] % 60:02}.000000Z │ line {number}\n")
            mirror.update(max_bytes)
        for number in range(len(pieces), len(stderr)):
            with said.open("a") as file:
                file.write(f"1970-01-01T00:00:{stderr[number] % 60:02}.000000Z │ line {number}\n")
        mirror.update(max_bytes)
        while not mirror.log.is_complete:
            mirror.update(max_bytes)
        whole_log = FrameLog(path, from_end=False)
        whole, opened_now = read_all(whole_log), read_all(FrameLog(path))
        for row in whole:
            assert mirror.log.text(row.number) == whole_log.text(row.number)
    assert as_shown(rows(mirror.log)) == as_shown(whole) == as_shown(opened_now)
    assert as_shown(without_answers(mirror.rows)) == as_shown(without_answers(whole))


@patiently
@given(first=logs, second=logs, kept=st.integers(0, 4000), more=logs)
def test_a_saved_index_is_used_only_for_its_own_log(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[bytes],
    second: list[bytes],
    kept: int,
    more: list[bytes],
) -> None:
    path = write_log(tmp_path_factory.mktemp("log") / "wire.jsonl", first)
    with pytest.MonkeyPatch.context() as patch:
        small_limits(patch)
        log = FrameLog(path)
        read_all(log)
        log.close()
        data = path.read_bytes()
        for content in (
            data,
            data + b"".join(more),
            b"".join(second),
            data[:kept],
            data[:kept] + b"".join(more),
        ):
            path.write_bytes(content)
            opened = FrameLog(path)
            again = read_all(opened)
            opened.close()
            copy = write_log(path.with_name("copy.jsonl"), [content])  # without a saved index
            assert as_shown(again) == as_shown(read_all(FrameLog(copy)))


def test_a_long_line_has_one_size_whatever_the_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch)
    write_log(path, [line(0.0, "sent", request(0)), b"x" * 500 + b' "msg": ' + b" " * 150 + b"\n"])
    in_pieces = read_all(FrameLog(path))
    monkeypatch.setattr(frame_index, "BLOCK_BYTES", 10_000)
    assert [row.size for row in in_pieces] == [row.size for row in read_all(FrameLog(path))]


def indexed(path: Path, lines: list[bytes]) -> Path:
    """Write a log, and save its index. Return the file of the index."""
    log = FrameLog(write_log(path, lines))
    read_all(log)
    log.close()
    return path.with_name("wire.index")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(frame_log, "SAVED_BYTES", 1)
    return tmp_path / "wire.jsonl"


LINES = [line(at, "sent" if at % 2 else "received", request(at, "session/new")) for at in range(100)]


def is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return True if opening the log reads its lines, so that the saved index is not used."""
    read: list[bytes] = []
    original = frame_index._read_line

    def read_line(line: bytes) -> Any:
        read.append(line)
        return original(line)

    with monkeypatch.context() as patch:
        patch.setattr(frame_index, "_read_line", read_line)
        FrameLog(path)
    return bool(read)


def test_a_saved_index_saves_reading_the_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = indexed(path, LINES)
    assert saved.stat().st_mode & 0o777 == 0o600
    assert not is_read(path, monkeypatch)
    assert rows(FrameLog(path)) == read_all(FrameLog(write_log(path.with_name("other"), LINES)))


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "magic", "header", "pipe", "huge row"])
def test_a_damaged_index_is_made_again(path: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = indexed(path, LINES)
    data = saved.read_bytes()
    magic, header, body = data.split(b"\n", 2)
    damaged = {
        "cut": data[:-1],
        "flipped": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        "empty": b"",
        "magic": b"x" + data,
        "header": magic + b"\n[]\n" + body,
        "huge row": magic
        + b"\n"
        + header.replace(b'"rows": 100', b'"rows": 10000000000000000000')
        + b"\n"
        + body,
        "pipe": None,
    }[damage]
    saved.unlink()
    if damaged is None:
        os.mkfifo(saved)
    else:
        saved.write_bytes(damaged)
    assert is_read(path, monkeypatch)
    log = FrameLog(path)
    assert len(read_all(log)) == 100
    log.close()
    assert not is_read(path, monkeypatch)


def test_no_index_is_written_beside_other_files_or_for_short_logs(tmp_path: Path) -> None:
    for name, lines in (("wire.jsonl", LINES), ("recording.jsonl", LINES * 400)):
        log = FrameLog(write_log(tmp_path / name, lines))
        read_all(log)
        log.close()
    assert not (tmp_path / "wire.index").exists()


def test_an_index_that_cannot_be_written_is_left_out(path: Path) -> None:
    log = FrameLog(write_log(path, LINES))
    path.unlink()
    path.parent.rename(path.parent.with_name("gone"))
    log.close()
    path.parent.with_name("gone").rename(path.parent)
    assert list(path.parent.glob("*index*")) == []

"""The parts of the tap: cutting bytes into lines, shortening long ones, and the backlog of the log."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.protocol.json_rpc import SHORTENED, shortened_frame
from acp_tui.wire.tap import BLOCK_BYTES, MAX_BACKLOG_BYTES, STDOUT, Backlog, read_blocks
from acp_tui.wire.tap_log import MAX_LINE_BYTES, LineCutter
from tests.support.waiting import wait_until

LINES = st.lists(st.sampled_from([b"", b"{}", b'{"a": 1}\r', b"noise\xff", b"\0", b"[1]", b" "]), max_size=20)


def cut(*blocks: bytes) -> list[Any]:
    """Return the frames in these blocks."""
    cutter = LineCutter()
    return [frame for block in blocks for frame, _ in cutter.lines(block)] + [
        frame for frame, _ in cutter.rest()
    ]


@given(LINES, st.lists(st.integers(0, 60)))
def test_it_does_not_matter_where_blocks_end(lines: list[bytes], at: list[int]) -> None:
    data = b"\n".join(lines)
    edges = [0, *sorted(at), len(data)]
    blocks = [data[start:end] for start, end in pairwise(edges)]
    assert cut(*blocks) == cut(data)


def test_a_long_line_is_shortened_wherever_blocks_end() -> None:
    line = json.dumps({"method": "x", "params": {"text": "y" * MAX_LINE_BYTES}, "id": 7}).encode()
    whole = cut(line + b"\n{}")
    assert whole[0] | {"params": None} == {"method": "x", "params": None, "id": 7, SHORTENED: len(line)}
    assert whole[1] == {}
    assert cut(*(line[at : at + 999] for at in range(0, len(line), 999)), b"\n{}") == whole


def test_after_a_gap_recording_goes_on_with_the_next_whole_line() -> None:
    cutter = LineCutter()
    assert cutter.lines(b'{}\n{"first": ') == [({}, "{}")]
    cutter.drop_line()
    assert cutter.lines(b'half"}\n[1]\n') == [([1], "[1]")]


MESSAGE = {
    "id": 1,
    "method": "m\\",
    "params": {"a": [1, {"b": "\u00e9\n\U0001f600"}, [], {}, None], "c": '}{,"'},
}


@given(st.integers(1, len(json.dumps(MESSAGE))), st.booleans())
def test_the_beginning_of_a_message_is_a_message(size: int, escaped: bool) -> None:
    text = json.dumps(MESSAGE, ensure_ascii=escaped).encode()
    frame = shortened_frame(text[:size], b"", 999)
    assert isinstance(frame, dict)
    assert frame.pop(SHORTENED) == 999
    assert frame.get("id", 1) == 1
    assert set(frame) <= set(MESSAGE)


@pytest.mark.parametrize("text", [b"", b"noise", b'"text', b"[1, 2", b"}{", b"]", b"\xff\xff"])
def test_other_text_stays_text(text: bytes) -> None:
    frame = shortened_frame(text, b"", 999)
    assert isinstance(frame, str)
    assert frame.endswith("... [line truncated: 999 bytes]")


def test_a_log_that_is_not_written_holds_up_nobody() -> None:
    reader, writer = os.pipe()
    backlog = Backlog(writer)
    blocks = 2 * MAX_BACKLOG_BYTES // BLOCK_BYTES
    for _ in range(blocks):
        backlog.put(STDOUT, bytes(BLOCK_BYTES))
    backlog.close()
    kept = missing = 0
    for stream, _, data, gap in read_blocks(reader):
        assert stream == STDOUT
        kept += len(data)
        missing += gap
    assert kept + missing == blocks * BLOCK_BYTES
    assert 0 < kept <= MAX_BACKLOG_BYTES + BLOCK_BYTES
    wait_until(lambda: not backlog.thread.is_alive())

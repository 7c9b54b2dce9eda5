"""How lines are cut out of blocks of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.protocol.json_rpc import LineSplitter


@given(st.lists(st.text("ab\n", max_size=8)))
def test_lines_do_not_depend_on_block_boundaries(blocks: list[str]) -> None:
    splitter = LineSplitter(limit=100)
    lines = [line for block in blocks for line in splitter.feed(block.encode())]
    assert [*lines, splitter.rest()] == "".join(blocks).encode().split(b"\n")


@given(st.lists(st.binary(min_size=1, max_size=4), max_size=20))
def test_a_line_over_the_limit_is_truncated_and_the_next_is_complete(blocks: list[bytes]) -> None:
    splitter = LineSplitter(limit=10)
    long = b"".join(blocks).replace(b"\n", b"-") + b"x" * 11
    [line, after] = [
        line
        for block in (*[block.replace(b"\n", b"-") for block in blocks], b"x" * 11, b"\nnext\n")
        for line in splitter.feed(block)
    ]
    assert line == long[: line.index(b"... [")] + b"... [line truncated: %d bytes, limit 10]" % len(long)
    assert after == b"next"

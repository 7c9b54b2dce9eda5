"""The last lines of a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.processes.piped_process import LineRing


@given(st.lists(st.binary(max_size=12)))
def test_the_ring_keeps_the_last_lines_of_any_blocks(blocks: list[bytes]) -> None:
    ring = LineRing(lines=3, width=5)
    for block in blocks:
        ring.add(block)
    assert len(ring.tail()) <= 4
    text = b"".join(blocks)
    if text.isascii() and text.decode().isprintable():
        assert ring.tail() == ([text[:5].decode().rstrip()] if text[:5].strip() else [])


def test_the_ring_replaces_control_characters() -> None:
    ring = LineRing(lines=2, width=100)
    ring.add(b"one\ntwo\n\x1b[31mthr")
    ring.add(b"ee\r\n\n")
    assert ring.tail(1) == ["␛[31mthree"]

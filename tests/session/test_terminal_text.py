"""Reading new output of a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.session.terminal_text import MAX_KEPT_PER_END, TerminalText
from tests.support.talk import properties


@properties
@given(st.lists(st.integers(0, MAX_KEPT_PER_END), max_size=8), st.integers(0, 8 * MAX_KEPT_PER_END))
def test_since_returns_new_output_and_counts_what_is_missing(pieces: list[int], position: int) -> None:
    text = TerminalText()
    whole = ""
    for number, size in enumerate(pieces):
        piece = chr(ord("a") + number) * size
        text.append(piece)
        whole += piece
    position = min(position, len(whole))
    before, missing, after = text.since(position)
    assert len(before) + missing + len(after) == len(whole) - position
    assert whole.startswith(before, position)
    assert whole.endswith(after)


def test_what_follows_skipped_output_is_at_the_end_even_if_the_beginning_is_short() -> None:
    text = TerminalText()
    text.append("a")
    text.skip(1000)
    text.append("end")
    assert (text.head, text.tail, text.skipped) == ("a", "end", 1000)


def test_skipped_output_is_missing_for_readers_before_it() -> None:
    text = TerminalText()
    text.append("a" * MAX_KEPT_PER_END)
    text.skip(1000)
    text.append("end")
    assert text.since(MAX_KEPT_PER_END - 2) == ("aa", 1000, "end")
    assert text.since(MAX_KEPT_PER_END + 400) == ("", 600, "end")
    assert text.since(MAX_KEPT_PER_END + 1001) == ("", 0, "nd")
    assert text.since(text.total) == ("", 0, "")

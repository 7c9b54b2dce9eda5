"""Keys and pastes in terminal input."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from acp_tui.ui.terminal.driver import BEGIN, END, PasteParser
from tests.support.talk import properties

NASTY = "a\x1b[31mred\x07\x1b[200~ again\r\n\x1b\x1b[201 ~\x00\x9b5m\rlast\x1b"


def came(*pieces: str) -> list[tuple[str, str]]:
    """Return the parsed keys and pastes."""
    typed = PasteParser(XTermParser())
    return [
        ("paste", event.text) if isinstance(event, events.Paste) else ("key", event.key)
        for piece in pieces
        for event in typed.feed(piece)
        if isinstance(event, (events.Paste, events.Key))
    ]


def test_a_paste_is_one_event_whatever_it_contains() -> None:
    assert came(f"x{BEGIN}{NASTY}{END}\r") == [("key", "x"), ("paste", NASTY), ("key", "enter")]


def test_consecutive_pastes_are_separate_events() -> None:
    found = came(f"{BEGIN}{END}{BEGIN}one{END}{BEGIN}two{END}")
    assert found == [("paste", ""), ("paste", "one"), ("paste", "two")]


@properties
@given(st.lists(st.integers(0, 60), max_size=8))
def test_input_may_be_cut_anywhere(cuts: list[int]) -> None:
    whole = f"x{BEGIN}{NASTY}{END}y\x1b[A{BEGIN}{END}z"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(edges)]
    assert came(*pieces) == came(whole) == came(*whole)


@pytest.mark.parametrize("cut", range(1, len(BEGIN)))
def test_a_partial_paste_marker_is_parsed_as_keys(cut: int) -> None:
    assert ("paste", "") not in came(BEGIN[:cut], "xyz")

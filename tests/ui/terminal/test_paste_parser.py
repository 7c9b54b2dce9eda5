"""Keys and pastes, however the terminal's bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from acp_tui.ui.terminal.paste_parser import BEGIN, END, PasteParser
from tests.support.talk import properties

NASTY = "a\x1b[31mred\x07\x1b[200~ again\r\n\x1b\x1b[201 ~\x00\x9b5m\rlast\x1b"


def came(*pieces: str) -> list[tuple[str, str]]:
    """What happened: keys, and pastes with their texts."""
    typed = PasteParser(XTermParser())
    return [
        ("paste", event.text) if isinstance(event, events.Paste) else ("key", event.key)
        for piece in pieces
        for event in typed.feed(piece)
        if isinstance(event, (events.Paste, events.Key))
    ]


def test_a_paste_is_one_thing_whatever_is_in_it() -> None:
    assert came(f"x{BEGIN}{NASTY}{END}\r") == [("key", "x"), ("paste", NASTY), ("key", "enter")]


def test_pastes_follow_each_other() -> None:
    found = came(f"{BEGIN}{END}{BEGIN}one{END}{BEGIN}two{END}")
    assert found == [("paste", ""), ("paste", "one"), ("paste", "two")]


@properties
@given(st.lists(st.integers(0, 60), max_size=8))
def test_it_does_not_matter_how_it_is_cut(cuts: list[int]) -> None:
    whole = f"x{BEGIN}{NASTY}{END}y\x1b[A{BEGIN}{END}z"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(edges)]
    assert came(*pieces) == came(whole) == came(*whole)


@pytest.mark.parametrize("cut", range(1, len(BEGIN)))
def test_what_looks_like_the_beginning_of_a_paste_is_none(cut: int) -> None:
    assert ("paste", "") not in came(BEGIN[:cut], "xyz")

"""Safe texts, growing texts and terminal output."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import (
    escape_controls,
    escape_line,
    strip_controls,
    visible_excerpt,
    visible_json,
)
from acp_tui.session.terminal_text import MAX_KEPT_PER_END, SGR, TerminalText, keep_colours, strip_colours
from tests.support.talk import properties


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain é漢😀\tx\n", "plain é漢😀\tx\n"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("\x1b]0;x\x07", "␛]0;x␇"),
        ("\x7f\x9b", "␡‹9b›"),
        ("a\u202eb", "a‹202e›b"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_control_characters_get_a_stand_in(raw: str, shown: str) -> None:
    assert escape_controls(raw) == shown


def test_visible_line_is_one_line() -> None:
    assert escape_line("a\r\nb\tc\x1b") == "a b c␛"


def test_control_characters_in_json_get_a_stand_in() -> None:
    assert visible_json({"a": "\x9b"}) == '{\n  "a": "‹9b›"\n}'


@pytest.mark.parametrize(
    ("value", "shown"),
    [({"a": [1, None]}, '{"a": [1, null]}'), ("x" * 50, '"' + "x" * 9 + "…"), ("\x9b", '"‹9b›"')],
)
def test_an_excerpt_is_the_beginning_on_one_line(value: object, shown: str) -> None:
    assert visible_excerpt(value, 20 if shown.startswith("{") else 10) == shown


def test_an_excerpt_of_deep_json_ends_early() -> None:
    deep = json.loads("[" * 700 + "]" * 700)
    assert visible_excerpt(deep, 2000).startswith("[[[")


@properties
@given(st.lists(st.text(st.sampled_from("ab\r\n\x1b\ud83d\ude00"), max_size=5), max_size=6))
def test_a_growing_text_does_not_depend_on_its_chunks(pieces: list[str]) -> None:
    grown = GrowingText()
    seen = ""
    for piece in pieces:
        grown.append(piece)
        seen += grown.since(len(seen))
        assert seen + grown.pending == str(grown)
    assert str(grown) == escape_controls("".join(pieces))
    assert grown == GrowingText("".join(pieces))


@pytest.mark.parametrize("position", [0, 1, 3, 5, 6, 99])
def test_since_returns_the_text_after_a_position(position: int) -> None:
    grown = GrowingText("ab")
    grown.append("cd")
    grown.append("ef")
    assert grown.since(position) == "abcdef"[position:]


# --------------------------------------------------------------------------- terminals


def test_terminal_output_keeps_its_head_and_its_tail() -> None:
    text = TerminalText()
    for start in range(0, 3 * MAX_KEPT_PER_END, 1000):
        text.append("".join(chr(33 + (start + at) % 90) for at in range(1000)))
    assert (len(text.head), len(text.tail)) == (MAX_KEPT_PER_END, MAX_KEPT_PER_END)
    assert text.total == MAX_KEPT_PER_END + text.skipped + MAX_KEPT_PER_END
    assert text.tail[-1] == chr(33 + (text.total - 1) % 90)


@properties
@given(st.lists(st.one_of(st.integers(0, MAX_KEPT_PER_END), st.integers(-MAX_KEPT_PER_END, -1)), max_size=8))
def test_terminal_output_counts_every_character(steps: list[int]) -> None:
    text = TerminalText()
    for step in steps:
        if step < 0:
            text.skip(-step)
        else:
            text.append("x" * step)
    assert text.total == len(text.head) + text.skipped + len(text.tail) == sum(map(abs, steps))


def test_one_large_chunk_is_cut_like_many_small_ones() -> None:
    whole, pieces = TerminalText(), TerminalText()
    output = "0123456789" * (MAX_KEPT_PER_END // 4)
    whole.append(output)
    for start in range(0, len(output), 4096):
        pieces.append(output[start : start + 4096])
    assert whole == pieces


# --------------------------------------------------------------------------- colours


@properties
@given(st.text(st.sampled_from("ab0;1m[\x1b\x9b\x07\r\n"), max_size=30))
def test_colours_are_kept_and_other_escapes_made_visible(raw: str) -> None:
    kept = keep_colours(raw)
    assert "\x1b" not in SGR.sub("", kept)
    assert "\x1b" not in strip_colours(raw)
    assert not set("\x9b\x07\r") & set(kept)


def test_escape_sequences_are_removed_from_pasted_text() -> None:
    coloured = "\x1b[1;31mred\x1b[m \x1b]0;title\x07"
    linked = "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"
    others = " \x00\x07\x9b\u202e\tend\r\nnext\rlast"
    assert strip_controls(f"{coloured}{linked}{others}") == "red link \tend\nnext\nlast"


@properties
@given(st.text(st.sampled_from("a0;m[]\\\x1b\x07\x9b\r\n\t")))
def test_pasted_text_has_no_control_characters(pasted: str) -> None:
    assert not set(strip_controls(pasted)) & set("\x1b\x07\x9b\r")

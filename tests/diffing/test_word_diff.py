"""Words that differ between two lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.diffing.hunks import MAX_CHARACTERS, changed_words
from tests.support.talk import properties


def marked(old: str, new: str) -> tuple[list[str], list[str]]:
    old_marks, new_marks = changed_words(old, new)
    return [old[start:end] for start, end in old_marks], [new[start:end] for start, end in new_marks]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("if user = None:", "if user is None:", (["="], ["is"])),
        ("return value", "return value + 1", ([], [" + 1"])),
        ("call(a, b, c)", "call(a, c)", (["b, "], [])),
        ("the quick brown fox jumps", "the slow red fox jumps", (["quick brown"], ["slow red"])),
        ("\treturn x", "    return x", (["\t"], ["    "])),
        ("return x  ", "return x", (["  "], [])),
        ("x = 漢字 + 1", "x = 漢語 + 1", (["漢字"], ["漢語"])),
    ],
)
def test_words_that_differ_are_marked(old: str, new: str, expected: tuple[list[str], list[str]]) -> None:
    assert marked(old, new) == expected


def test_lines_with_little_in_common_are_not_marked() -> None:
    assert marked("import os", "raise ValueError(message)") == ([], [])


def test_equal_lines_are_not_marked() -> None:
    assert marked("same", "same") == ([], [])


def test_long_lines_are_marked_between_their_common_ends() -> None:
    old = "x" * MAX_CHARACTERS + "," + "y" * MAX_CHARACTERS
    new = "x" * (MAX_CHARACTERS - 5) + "CHANGED"
    old_marks, new_marks = changed_words(old, new)
    assert len(old_marks) <= 1
    assert len(new_marks) <= 1


@properties
@given(st.text("ab \t=", max_size=40), st.text("ab \t=", max_size=40))
def test_unmarked_text_is_equal_in_both_lines(old: str, new: str) -> None:
    old_marks, new_marks = changed_words(old, new)
    if not old_marks and not new_marks:
        return
    rest = [
        "".join(char for at, char in enumerate(text) if not any(start <= at < end for start, end in marks))
        for text, marks in ((old, old_marks), (new, new_marks))
    ]
    assert "".join(rest[0].split()) == "".join(rest[1].split())

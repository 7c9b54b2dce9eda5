"""Differences between two texts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.diffing import compare_texts, parse_patch
from acp_tui.diffing.line_diff import changed_blocks
from tests.support.talk import properties

if TYPE_CHECKING:
    from acp_tui.diffing import Difference, Row

LINES = st.lists(st.sampled_from(["a", "b", "c", "{", "}", "", "x = 1", "y = 2"]), max_size=40)


def rows(difference: Difference) -> list[str]:
    """Return the rows in the notation of a patch."""
    signs = {"same": " ", "removed": "-", "added": "+", "gap": "⋯", "note": "\\"}
    return [f"{signs[row.kind]}{row.text}" for row in difference.rows()]


def apply(old: list[str], difference: Difference) -> list[str]:
    """Apply a difference to the old lines, and check that it fits."""
    made: list[str] = []
    at = 0
    for hunk in difference.hunks:
        made += old[at : hunk.old - 1]
        at = hunk.old - 1
        assert len(made) == hunk.new - 1
        for row in hunk.rows():
            if row.kind in ("same", "removed"):
                assert old[at] == row.text
                assert row.old == at + 1
                at += 1
            if row.kind in ("same", "added"):
                made.append(row.text)
                assert row.new == len(made)
    return made + old[at:]


def as_text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@properties
@given(LINES, LINES)
def test_applying_a_difference_gives_the_new_text(old: list[str], new: list[str]) -> None:
    assert apply(old, compare_texts(as_text(old), as_text(new))) == new


@properties
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_scattered_changes_in_a_long_text_are_found_one_by_one(seed: int, count: int) -> None:
    dice = random.Random(seed)
    old = [f"line {number}" if number % 3 else "}" for number in range(1000)]
    new = list(old)
    changed = dice.sample(range(1, 999), count)
    for at in changed:
        new[at] = f"changed {at}"
    found = compare_texts(as_text(old), as_text(new))
    assert (found.added, found.removed) == (count, count)
    assert apply(old, found) == new


def test_equal_texts_have_no_difference() -> None:
    found = compare_texts("a\nb\n", "a\nb\n")
    assert not found.hunks
    assert (found.added, found.removed) == (0, 0)


def test_distant_changes_are_hunks_with_three_lines_of_context() -> None:
    old = [str(number) for number in range(1, 41)]
    new = [*old[:9], "ten", *old[10:29], "thirty", *old[30:]]
    assert rows(compare_texts(as_text(old), as_text(new))) == [
        *(" 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"),
        "⋯13 unchanged lines",
        *(" 27", " 28", " 29", "-30", "+thirty", " 31", " 32", " 33"),
    ]


def test_near_changes_share_a_hunk() -> None:
    old = [str(number) for number in range(1, 21)]
    new = [*old[:4], "five", *old[5:13], "fourteen", *old[14:]]
    found = compare_texts(as_text(old), as_text(new))
    assert len(found.hunks) == 1
    assert not [row for row in found.rows() if row.kind == "gap"]


def test_a_new_file_is_added_and_a_deleted_one_removed_completely() -> None:
    assert rows(compare_texts(None, "a\nb\n")) == ["+a", "+b"]
    assert rows(compare_texts("a\nb\n", None)) == ["-a", "-b"]
    assert not compare_texts(None, "").hunks


def test_a_missing_final_newline_is_a_difference() -> None:
    assert rows(compare_texts("a\nb\n", "a\nb")) == [" a", "-b", "+b", "\\No newline at end of file"]
    assert rows(compare_texts("a\nb", "a\nb\n")) == [" a", "-b", "\\No newline at end of file", "+b"]
    assert rows(compare_texts("a\nb", "a\nc\n")) == [" a", "-b", "\\No newline at end of file", "+c"]


def test_a_final_newline_missing_in_both_texts_is_not_noted() -> None:
    assert rows(compare_texts("if a = 1:", "if a == 1:")) == ["-if a = 1:", "+if a == 1:"]
    assert rows(compare_texts(None, "a\nb")) == ["+a", "+b"]


@properties
@given(LINES, LINES, st.booleans(), st.booleans())
def test_any_combination_of_final_newlines_can_be_applied(
    old: list[str], new: list[str], old_open: bool, new_open: bool
) -> None:
    before = "\n".join(old) if old_open else as_text(old)
    after = "\n".join(new) if new_open else as_text(new)
    found = compare_texts(before, after)
    lines = before.removesuffix("\n").split("\n") if before else []
    assert apply(lines, found) == (after.removesuffix("\n").split("\n") if after else [])


def test_line_numbers_start_at_the_given_one() -> None:
    found = compare_texts("a\nb\n", "a\nc\n", 12)
    assert [(row.old, row.new) for row in found.rows()] == [(12, 12), (13, None), (None, 13)]
    assert found.old == {12: "a", 13: "b"}
    assert found.last_number == 13


def test_repeated_lines_are_matched_by_their_neighbours() -> None:
    dice = random.Random(1)
    old = [line for _ in range(400) for line in ("begin", "x", "end", str(dice.randrange(9)))]
    new = list(old)
    new[41] = "changed"
    new[801] = "changed"
    new[1201:1205] = []
    found = compare_texts(as_text(old), as_text(new))
    assert (found.added, found.removed) == (2, 6)


def test_large_repetitive_texts_are_compared_within_the_limit() -> None:
    dice = random.Random(1)
    old = [dice.choice("ab") for _ in range(4000)]
    new = [dice.choice("ab") for _ in range(4000)]
    assert apply(old, compare_texts(as_text(old), as_text(new))) == new


def test_small_changes_in_20_000_lines_are_found_one_by_one() -> None:
    old = [f"    value_{number} = {number}" for number in range(20_000)]
    new = [f"{line}  # changed" if number % 10 == 5 else line for number, line in enumerate(old)]
    blocks = changed_blocks(old, new)
    assert len(blocks) == 2000
    assert all(block.i_end - block.i == 1 for block in blocks)


def test_moved_lines_are_removed_and_added() -> None:
    old = [str(number) for number in range(30)]
    new = [*old[10:], *old[:10]]
    found = compare_texts(as_text(old), as_text(new))
    assert (found.added, found.removed) == (10, 10)


@pytest.mark.parametrize(("old", "new"), [("a\n", "b\n"), (None, "b\n"), ("a\n", None)])
def test_comparisons_are_cached(old: str | None, new: str | None) -> None:
    assert compare_texts(old, new) is compare_texts(old, new)


def test_words_are_marked_in_the_line_that_replaced_another() -> None:
    found = compare_texts("if a = 1:\n", "if a is 1:\n    pass\n")
    marked: list[Row] = [row for row in found.rows() if row.change is not None and row.change.marks(row)]
    assert [(row.kind, row.text) for row in marked] == [("removed", "if a = 1:"), ("added", "if a is 1:")]


def test_a_difference_that_only_adds_or_only_removes_is_one_sided() -> None:
    assert compare_texts(None, "a\n").one_sided
    assert compare_texts("a\n", "a\nb\n").one_sided
    assert not compare_texts("a\n", "b\n").one_sided
    assert parse_patch("@@ -1 +1,2 @@\n a\n+b\n").one_sided

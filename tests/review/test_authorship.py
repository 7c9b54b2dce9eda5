"""Who changed which lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.diffing.line_diff import changed_blocks
from acp_tui.review.authorship import YOU, block_authors, turn_bit, turns_of

FIRST, SECOND = turn_bit(1), turn_bit(2)
texts = st.lists(st.sampled_from("abcdef"), max_size=12)


def authors_of(*versions: str, authors: list[int]) -> tuple[int, ...]:
    """Return who changed each block between the first and the last text, one character per line."""
    return block_authors(versions, authors, changed_blocks(versions[0], versions[-1]))


def test_lines_of_the_agent_and_of_the_user_are_told_apart() -> None:
    assert authors_of("abcdefgh", "aBcdefgh", "aBcdefGh", authors=[FIRST, YOU]) == (FIRST, YOU)


def test_a_line_that_both_changed_has_both_authors() -> None:
    assert authors_of("abc", "aXc", "aYc", authors=[FIRST, YOU]) == (FIRST | YOU,)


def test_each_turn_is_an_author() -> None:
    assert authors_of("abcdef", "aBcdef", "aBcdeF", authors=[FIRST, SECOND]) == (FIRST, SECOND)
    assert list(turns_of(YOU | FIRST | SECOND)) == [1, 2]


def test_removed_lines_have_an_author() -> None:
    assert authors_of("abcdef", "acdef", "acde", authors=[FIRST, YOU]) == (FIRST, YOU)


def test_lines_removed_next_to_an_insertion_of_the_other_are_of_both() -> None:
    assert authors_of("abcd", "acd", "aXcd", authors=[FIRST, YOU]) == (FIRST | YOU,)


def test_an_insertion_beside_a_change_of_the_other_is_not_shared() -> None:
    assert authors_of("abcd", "aXbcd", "aXbYd", authors=[FIRST, YOU]) == (FIRST, YOU)


@given(st.lists(texts, min_size=2, max_size=5))
def test_every_changed_block_has_an_author(versions: list[list[str]]) -> None:
    authors = [turn_bit(number) for number in range(1, len(versions))]
    blocks = changed_blocks(versions[0], versions[-1])
    found = block_authors(versions, authors, blocks)
    assert len(found) == len(blocks)
    if versions[:-1] == [versions[0]] * (len(versions) - 1):
        assert set(found) <= {authors[-1]}

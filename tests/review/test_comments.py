"""Comments on changed lines."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.review.comments import Comment, comments_from_json, comments_to_json, prompt_of

OLD = ["a", "b", "c"]
NEW = ["a", "x", "y", "c"]
ADDED = Comment("/p/f.py", 2, 3, ("+x", "+y"), "Why?")
REMOVED = Comment("/p/f.py", 2, 2, ("-b",), "Keep this.")

lines = st.lists(st.text(max_size=4), min_size=1, max_size=3).map(tuple)
comments = st.lists(
    st.builds(Comment, st.text(max_size=5), st.integers(1, 9), st.integers(1, 9), lines, st.text(max_size=9))
)


def test_a_comment_follows_its_lines() -> None:
    moved = ADDED.follow(OLD, ["new", *NEW])
    assert (moved.first, moved.last, moved.outdated) == (3, 4, False)


def test_a_comment_on_changed_lines_is_outdated_and_keeps_its_excerpt() -> None:
    outdated = ADDED.follow(OLD, ["a", "x", "z", "c"])
    assert outdated.outdated
    assert outdated.excerpt == ("+x", "+y")


def test_a_comment_is_current_again_when_its_lines_are() -> None:
    outdated = ADDED.follow(OLD, OLD)
    assert not outdated.follow(OLD, NEW).outdated


def test_a_comment_on_removed_lines_is_outdated_once_they_are_back() -> None:
    assert not REMOVED.follow(OLD, NEW).outdated
    assert REMOVED.follow(OLD, OLD).outdated


@given(comments)
def test_saved_comments_are_restored(written: list[Comment]) -> None:
    assert comments_from_json(json.loads(json.dumps(comments_to_json(written)))) == written


@given(st.recursive(st.one_of(st.none(), st.integers(), st.text()), st.lists))
def test_other_json_values_are_no_comments(value: object) -> None:
    assert comments_from_json(value) == []


def test_the_prompt_names_file_and_lines_and_quotes_them() -> None:
    prompt = prompt_of([ADDED, REMOVED], lambda path: path.removeprefix("/p/"))
    assert prompt == (
        "Please address these review comments on the current changes.\n\n"
        "f.py, lines 2-3:\n\n```diff\n+x\n+y\n```\n\nWhy?\n\n"
        "f.py, line 2 (removed):\n\n```diff\n-b\n```\n\nKeep this."
    )


def test_an_excerpt_with_backticks_stays_one_block() -> None:
    prompt = prompt_of([Comment("f", 1, 1, ("+````", "+```"), "Hm.")], str)
    assert "`````diff\n+````\n+```\n`````\n" in prompt


def test_an_outdated_comment_says_so() -> None:
    assert "f, lines 2-3 (these lines have changed since):" in prompt_of(
        [ADDED.follow(OLD, OLD)], lambda _: "f"
    )

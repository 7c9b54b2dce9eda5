"""Patches as agents write them."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.diffing import parse_patch
from tests.diffing.test_difference import apply, rows
from tests.support.talk import properties

LINES = st.lists(st.sampled_from(["a", "b", "", "-- sql", "++i", "@@", " x", "diff"]), max_size=30)


@properties
@given(LINES, LINES)
def test_a_unified_diff_is_parsed(old: list[str], new: list[str]) -> None:
    patch = "\n".join(difflib.unified_diff(old, new, "a/f", "b/f", lineterm=""))
    assert apply(old, parse_patch(patch)) == new


def test_file_headers_are_hidden_and_hunk_headings_are_shown() -> None:
    found = parse_patch(
        "diff --git a/login.py b/login.py\nindex 12..34 100644\n--- a/login.py\n+++ b/login.py\n"
        "@@ -10,2 +10,2 @@ def login():\n-old\n+new\n same\n"
    )
    assert rows(found) == ["⋯def login():", "-old", "+new", " same"]
    assert [(row.old, row.new) for row in found.rows()][1:] == [(10, None), (None, 10), (11, 11)]


def test_lines_like_headers_belong_to_a_hunk_that_counts_them() -> None:
    assert rows(parse_patch("@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n")) == ["--- a", "+++ b", " c"]


def test_changes_without_any_header_are_shown() -> None:
    found = parse_patch("--- login.py\n+++ login.py\n-old\n+new\n same\n")
    assert rows(found) == ["-old", "+new", " same"]
    assert [row.old or row.new for row in found.rows()] == [1, 1, 2]


def test_hunks_without_numbers_follow_each_other() -> None:
    found = parse_patch("@@\n a\n-b\n@@ def f():\n+c\n")
    assert rows(found) == [" a", "-b", "⋯def f():", "+c"]
    assert (found.added, found.removed) == (1, 1)


def test_no_line_is_lost_if_the_counts_are_wrong() -> None:
    assert rows(parse_patch("@@ -1,9 +1,9 @@\n a\n-b\n+c")) == [" a", "-b", "+c"]
    assert rows(parse_patch("@@ -1 +1 @@\n-a\n+b\n+c\n d\n")) == ["-a", "+b", "+c", " d"]
    assert rows(parse_patch("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n")) == [" a", " ", "-b", "+c"]


def test_a_missing_final_newline_is_noted_below_its_line() -> None:
    note = "\\No newline at end of file"
    assert rows(parse_patch("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n")) == ["-a", note, "+a"]
    assert rows(parse_patch("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")) == ["-a", "+b", note]


def test_a_second_file_is_named() -> None:
    one = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n"
    two = "--- a/two\n+++ b/two\n@@ -1 +1 @@\n-c\n+d\n"
    assert rows(parse_patch(one + two)) == ["-a", "+b", "\\two", "⋯", "-c", "+d"]


def test_other_text_in_a_patch_becomes_notes() -> None:
    found = parse_patch("diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n")
    assert found.notes == ["Binary files a/x.png and b/x.png differ"]
    assert parse_patch("I changed nothing.\n").notes == ["I changed nothing."]


@properties
@given(st.text("+-@ \\\nab0,*", max_size=120))
def test_any_text_is_parsed_without_losing_letters(patch: str) -> None:
    found = parse_patch(patch)
    shown = "".join(row.text for row in found.rows())
    headers = [line for line in patch.split("\n") if line.startswith(("--- ", "+++ ", "\\"))]
    assert shown.count("b") >= patch.count("b") - "".join(headers).count("b")

"""Renamed files, which are a deleted and a new one."""

from __future__ import annotations

from pathlib import Path

from acp_tui.review.changed_file import ABSENT, ChangedFile, FileVersion, find_renames

LINES = "".join(f"line {number}\n" for number in range(20))


def deleted(name: str, content: str) -> ChangedFile:
    return ChangedFile.between(Path(name), FileVersion(content.encode(), 0o100644), ABSENT)


def added(name: str, content: str) -> ChangedFile:
    return ChangedFile.between(Path(name), ABSENT, FileVersion(content.encode(), 0o100644))


def test_a_file_with_the_same_content_was_renamed() -> None:
    renames = find_renames([deleted("old", LINES), added("other", "x\n"), added("new", LINES)])
    assert renames == {Path("old"): Path("new"), Path("new"): Path("old")}


def test_a_file_that_was_also_edited_was_renamed() -> None:
    renames = find_renames([deleted("old", LINES), added("new", LINES.replace("line 7", "seven"))])
    assert renames[Path("new")] == Path("old")


def test_files_with_little_in_common_were_not_renamed() -> None:
    assert find_renames([deleted("old", LINES), added("new", "line 1\nother\nwords\n")]) == {}


def test_empty_files_were_not_renamed() -> None:
    assert find_renames([deleted("old", ""), added("new", "")]) == {}

"""The files that patches of any format change, and texts that only resemble patches."""

from __future__ import annotations

import pytest

from acp_tui.protocol.raw_patches import is_patch, patched_files

HUNK = "@@ -1,2 +1,2 @@\n a\n-b\n+c"


def found(text: str) -> list[tuple[str, list[str]]]:
    return [(file.operation, file.paths) for file in patched_files(text)]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("*** Begin Patch\n*** Update File: /x/a.txt\n@@\n-a\n+b\n*** End Patch", [("update", ["/x/a.txt"])]),
        (
            "*** Add File: a\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n@@\n-x\n+y",
            [("add", ["a"]), ("delete", ["b"]), ("move", ["c", "d"])],
        ),
        ("apply <<'EOF'\n*** Begin Patch\n*** Update File: a b.txt \n+x\nEOF", [("update", ["a b.txt"])]),
        ("  *** update file: a\r\n@@\r\n-x\r\n+y\r\n", [("update", ["a"])]),
        (f"--- a/x.py\n+++ b/x.py\n{HUNK}", [("update", ["x.py"])]),
        (f"--- x.py\t2026-01-01\n+++ x.py\t2026-01-02\n{HUNK}", [("update", ["x.py"])]),
        (f"--- x.orig\n+++ x.py\n{HUNK}", [("update", ["x.py", "x.orig"])]),
        ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x", [("add", ["new"])]),
        ("--- a/dev/null\n+++ b/ws/new\n@@ -1,0 +1 @@\n+x", [("add", ["ws/new"])]),
        ("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x", [("delete", ["old"])]),
        (f"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{HUNK}", [("update", ["x"])]),
        (f"diff --git i/x w/x\n--- i/x\n+++ w/x\n{HUNK}", [("update", ["x"])]),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", [("move", ["x", "y"])]),
        ("diff --git a/x y b/x y\ndeleted file mode 100644\nindex 1..0", [("delete", ["x y"])]),
        ("diff --git a/p.png b/p.png\nnew file mode 100644\nGIT binary patch\n", [("add", ["p.png"])]),
        ('diff --git "a/\\303\\274" "b/\\303\\274"\nnew file mode 100644\n', [("add", ["ü"])]),
        (f"Index: /x/a\n=====\n--- /x/a\n+++ /x/a\n{HUNK}", [("update", ["/x/a"])]),
        (
            "*** old/x\t1\n--- new/x\t2\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b",
            [("update", ["new/x", "old/x"])],
        ),
        (
            f"Please apply:\n\n--- a/x\n+++ b/x\n{HUNK}\n--- a/y\n+++ b/y\n{HUNK}\n",
            [("update", ["x"]), ("update", ["y"])],
        ),
    ],
)  # fmt: skip
def test_the_files_of_a_patch_are_found(text: str, files: list[tuple[str, list[str]]]) -> None:
    assert found(text) == files


def test_a_file_is_found_after_a_hunk_that_announces_too_many_lines() -> None:
    text = f"--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n-a\n+b\n--- a/y\n+++ b/y\n{HUNK}"
    assert [paths for _, paths in found(text)] == [["x"], ["y"]]


def test_changed_lines_that_look_like_file_names_name_no_file() -> None:
    text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ c\n d\n"
    assert found(text) == [("update", ["x.sql"])]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a *** b",
        "---\ntitle: x\n---\n",
        "--- note\nmore\n",
        "Begin Patch",
        "+++ x",
        "*** bold ***\n--- x\n",
    ],
)
def test_other_texts_contain_no_patch(text: str) -> None:
    assert found(text) == []
    assert not is_patch(text) or text.startswith("*** bold")


def test_a_long_line_is_read_quickly() -> None:
    assert found("*** Update File: " + " a" * 500_000 + "\ndiff --git " + "a" * 500_000)

"""The search for files by a part of their path."""

from __future__ import annotations

import pytest

from acp_tui.ui.prompt.menus import MAX_HITS, FileSearch, locate_match
from acp_tui.workspace.files.file_listing import ListedFiles

NAMES = [
    "src/controller/conversation.py",
    "src/ui/screens/conversation.py",
    "src/ui/prompt.py",
    "src/ui/widgets/prompt/prompt.py",
    "src/ui/widgets/prompt/editor.py",
    "tests/test_prompt.py",
    "docs/Prompting.md",
    "conv/else.py",
    "README.md",
]


def listed_files(*names: str) -> ListedFiles:
    files = ListedFiles()
    files.add(names or NAMES)
    files.complete = True
    return files


def hits(files: ListedFiles, wanted: str, before: FileSearch | None = None) -> list[str]:
    search = FileSearch(files, wanted, before)
    search.finish()
    return [files.paths[index] for index in search.hits]


@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        ("readme", ["README.md"]),
        ("prompt.py", ["src/ui/prompt.py", "src/ui/widgets/prompt/prompt.py", "tests/test_prompt.py"]),
        ("PROMPTI", ["docs/Prompting.md"]),
        ("conv", ["conv/", "src/controller/conversation.py"]),
        ("ui/prom", ["src/ui/prompt.py"]),
        ("src/ui/", ["src/ui/"]),
        ("wpe", ["src/ui/widgets/prompt/editor.py"]),
        ("suisedz", []),
    ],
)
def test_the_best_match_comes_first(wanted: str, first: list[str]) -> None:
    assert hits(listed_files(), wanted)[: max(1, len(first))] == first


def test_changed_files_come_first_among_equal_matches() -> None:
    files = listed_files("a/test_one.py", "b/test_two_longer.py")
    files.changed.add("b/test_two_longer.py")
    assert hits(files, "test")[0] == "b/test_two_longer.py"
    assert hits(files, "")[0] == "b/test_two_longer.py"


def test_without_a_text_the_top_level_is_offered() -> None:
    assert set(hits(listed_files(), "")[:5]) == {"src/", "tests/", "docs/", "conv/", "README.md"}


def test_deleted_files_are_not_offered() -> None:
    files = listed_files("old.py", "older.py")
    files.missing.add("old.py")
    assert hits(files, "old") == ["older.py"]


def test_the_number_of_matches_is_limited() -> None:
    assert len(hits(listed_files(*(f"file{number}.py" for number in range(5000))), "file")) == MAX_HITS


def test_a_longer_text_is_searched_among_earlier_matches() -> None:
    files = listed_files()
    shorter = FileSearch(files, "wpe")
    shorter.finish()
    files.bases[:] = files.lower[:] = [""] * len(files.paths)  # a search of all files finds nothing
    for index in shorter.hits:
        files.lower[index] = files.paths[index].lower()
    assert hits(files, "wped", shorter) == ["src/ui/widgets/prompt/editor.py"]


def test_files_added_since_are_searched_too() -> None:
    files = listed_files()
    shorter = FileSearch(files, "zeb")
    shorter.finish()
    assert shorter.hits == []
    files.add(["zebra.py"])
    assert hits(files, "zebr", shorter) == ["zebra.py"]


def test_a_search_is_split_into_small_steps() -> None:
    search = FileSearch(listed_files(*(f"{number:06}.py" for number in range(20_000))), "zz")
    steps = 1
    while search.step():
        steps += 1
    assert steps > 30


@pytest.mark.parametrize(
    ("path", "wanted", "letters"),
    [
        ("src/ui/prompt.py", "prompt", "prompt"),
        ("prompt/my_prompt.py", "prompt", "prompt"),
        ("src/ui/prompt.py", "upr", "upr"),
        ("Src/Main.py", "main", "Main"),
    ],
)
def test_matched_characters_are_located(path: str, wanted: str, letters: str) -> None:
    positions = locate_match(path, wanted).positions
    assert "".join(path[position] for position in sorted(positions)) == letters
    if path.startswith("prompt/"):
        assert min(positions) > path.index("/")

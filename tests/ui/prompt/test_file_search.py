"""Which files are meant by a few letters."""

from __future__ import annotations

import pytest

from acp_tui.ui.prompt.file_search import MAX_HITS, FileSearch, locate_match
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


def found(*names: str) -> ListedFiles:
    files = ListedFiles()
    files.add(names or NAMES)
    files.complete = True
    return files


def hits(files: ListedFiles, wanted: str, before: FileSearch | None = None) -> list[str]:
    search = FileSearch(files, wanted, before)
    search.finish()
    return [files.paths[place] for place in search.hits]


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
def test_the_likeliest_comes_first(wanted: str, first: list[str]) -> None:
    assert hits(found(), wanted)[: max(1, len(first))] == first


def test_what_was_changed_comes_first_among_equals() -> None:
    files = found("a/test_one.py", "b/test_two_longer.py")
    files.changed.add("b/test_two_longer.py")
    assert hits(files, "test")[0] == "b/test_two_longer.py"
    assert hits(files, "")[0] == "b/test_two_longer.py"


def test_without_a_letter_the_top_of_the_folder_is_offered() -> None:
    assert set(hits(found(), "")[:5]) == {"src/", "tests/", "docs/", "conv/", "README.md"}


def test_files_that_are_gone_are_not_offered() -> None:
    files = found("old.py", "older.py")
    files.missing.add("old.py")
    assert hits(files, "old") == ["older.py"]


def test_never_more_than_can_be_looked_through() -> None:
    assert len(hits(found(*(f"file{number}.py" for number in range(5000))), "file")) == MAX_HITS


def test_a_longer_name_is_looked_for_among_the_hits_of_the_shorter_one() -> None:
    files = found()
    shorter = FileSearch(files, "wpe")
    shorter.finish()
    files.bases[:] = files.lower[:] = [""] * len(files.paths)  # whoever looks at all finds nothing
    for place in shorter.hits:
        files.lower[place] = files.paths[place].lower()
    assert hits(files, "wped", shorter) == ["src/ui/widgets/prompt/editor.py"]


def test_what_has_come_since_is_not_forgotten_by_a_longer_name() -> None:
    files = found()
    shorter = FileSearch(files, "zeb")
    shorter.finish()
    assert shorter.hits == []
    files.add(["zebra.py"])
    assert hits(files, "zebr", shorter) == ["zebra.py"]


def test_a_search_goes_in_steps_none_of_which_looks_at_everything() -> None:
    search = FileSearch(found(*(f"{number:06}.py" for number in range(20_000))), "zz")
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
def test_what_was_hit_is_marked(path: str, wanted: str, letters: str) -> None:
    places = locate_match(path, wanted).positions
    assert "".join(path[place] for place in sorted(places)) == letters
    if path.startswith("prompt/"):
        assert min(places) > path.index("/")

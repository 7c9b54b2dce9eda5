"""Whatever happens to links and names between the question and the act: what was approved is what is done."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import Refusal
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.roots import Roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "root"
    path.mkdir()
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "outside"
    path.mkdir()
    (path / "file").write_text("secret")
    return path


@pytest.fixture
def files(root: Path) -> FileAccess:
    return FileAccess(Roots(root))


# ---- where it really is


def test_a_file_outside_is_reported_and_not_refused(files: FileAccess, outside: Path) -> None:
    with files.open_for_reading(str(outside / "file")) as reading:
        assert not reading.inside
        assert reading.text() == "secret"
    with files.prepare_writing(str(outside / "file")) as writing:
        assert not writing.inside
        assert writing.exists


def test_dots_lead_where_the_system_says_they_lead(files: FileAccess, root: Path, outside: Path) -> None:
    (root / "sub").mkdir()
    path = f"{root}/sub/../../outside/file"
    with files.open_for_reading(path) as reading, files.prepare_writing(path) as writing:
        assert (reading.real, reading.inside) == (outside / "file", False)
        assert (writing.real, writing.inside) == (outside / "file", False)


def test_dots_behind_a_link_count_from_where_the_link_leads(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (outside / "deep").mkdir()
    (root / "link").symlink_to(outside / "deep")
    path = f"{root}/link/../file"  # by its letters this is root/file
    with files.open_for_reading(path) as reading, files.prepare_writing(path) as writing:
        assert (reading.real, reading.inside) == (outside / "file", False)
        assert (writing.real, writing.inside) == (outside / "file", False)


@pytest.mark.parametrize("relative", [False, True])
def test_a_link_to_a_file_outside_is_outside(
    files: FileAccess, root: Path, outside: Path, relative: bool
) -> None:
    (root / "link").symlink_to("../outside/file" if relative else outside / "file")
    with (
        files.open_for_reading(str(root / "link")) as reading,
        files.prepare_writing(str(root / "link")) as writing,
    ):
        assert (reading.path, reading.real, reading.inside) == (str(root / "link"), outside / "file", False)
        assert (writing.path, writing.real, writing.inside) == (str(root / "link"), outside / "file", False)


def test_a_link_to_a_directory_outside_is_outside_also_for_new_files_in_new_folders(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "link").symlink_to(outside)
    with files.prepare_writing(str(root / "link" / "new" / "file")) as writing:
        assert (writing.real, writing.inside) == (outside / "new" / "file", False)


def test_a_link_to_a_file_that_does_not_exist_yet_is_where_it_would_be(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "link").symlink_to(outside / "new")
    with files.prepare_writing(str(root / "link")) as writing:
        assert (writing.real, writing.inside, writing.exists) == (outside / "new", False, False)


def test_a_link_from_outside_into_the_root_is_inside(files: FileAccess, root: Path, outside: Path) -> None:
    (root / "file").write_text("mine")
    (outside / "link").symlink_to(root / "file")
    with files.open_for_reading(str(outside / "link")) as reading:
        assert (reading.real, reading.inside) == (root / "file", True)


def test_a_file_in_an_additional_directory_is_inside(root: Path, outside: Path) -> None:
    files = FileAccess(Roots(root, [outside]))
    with files.open_for_reading(str(outside / "file")) as reading:
        assert reading.inside


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is there on Linux only")
def test_the_magic_links_of_proc_hide_nothing(files: FileAccess, root: Path, outside: Path) -> None:
    with open(outside / "file") as file:
        path = f"/proc/self/fd/{file.fileno()}"
        with files.open_for_reading(path) as reading, files.prepare_writing(path) as writing:
            assert (reading.real, reading.inside) == (outside / "file", False)
            assert not writing.inside
    with files.open_for_reading("/proc/self/environ") as reading:
        assert not reading.inside
        assert reading.sensitive


# ---- sensitive


def test_a_sensitive_file_says_why(files: FileAccess, root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    with (
        files.open_for_reading(str(root / ".env")) as reading,
        files.prepare_writing(str(root / ".env")) as writing,
    ):
        assert reading.sensitive == writing.sensitive == "may contain passwords and keys"


def test_a_link_with_a_harmless_name_does_not_hide_a_sensitive_file(files: FileAccess, root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / "notes.txt").symlink_to(".env")
    with files.open_for_reading(str(root / "notes.txt")) as reading:
        assert reading.sensitive
    with files.prepare_writing(str(root / "notes.txt")) as writing:
        assert writing.sensitive


def test_a_sensitive_name_counts_also_when_its_target_has_a_harmless_one(
    files: FileAccess, root: Path
) -> None:
    (root / "vault.txt").write_text("KEY=1")
    (root / ".env").symlink_to("vault.txt")
    with files.open_for_reading(str(root / ".env")) as reading:
        assert reading.sensitive


def test_the_users_own_patterns_count(root: Path) -> None:
    (root / "customers.csv").write_text("x")
    files = FileAccess(Roots(root), ["*.csv"])
    with files.open_for_reading(str(root / "customers.csv")) as reading:
        assert reading.sensitive == "matches '*.csv' in workspace.sensitive"


def test_an_ordinary_file_is_not_sensitive(files: FileAccess, root: Path) -> None:
    (root / "main.py").write_text("x")
    with files.open_for_reading(str(root / "main.py")) as reading:
        assert reading.sensitive is None


# ---- swapped between the two steps


def test_a_file_swapped_for_a_link_after_it_was_opened_is_read_as_it_was(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "file").write_text("mine")
    with files.open_for_reading(str(root / "file")) as reading:
        (root / "file").unlink()
        (root / "file").symlink_to(outside / "file")
        assert (reading.inside, reading.text()) == (True, "mine")


def test_a_file_swapped_for_a_link_before_it_is_written_is_refused(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "file").write_text("mine")
    with files.prepare_writing(str(root / "file")) as writing:
        (root / "file").unlink()
        (root / "file").symlink_to(outside / "file")
        with pytest.raises(Refusal, match="replaced by a link"):
            writing.write("theirs")
    assert (outside / "file").read_text() == "secret"
    assert (root / "file").is_symlink()


@pytest.mark.parametrize("below", ["file", "new", "new/folder/file"])
def test_a_folder_swapped_for_a_link_before_the_write_is_refused(
    files: FileAccess, root: Path, outside: Path, below: str
) -> None:
    (root / "sub").mkdir()
    with files.prepare_writing(str(root / "sub" / below)) as writing:
        assert writing.inside
        (root / "sub").rename(root / "moved")
        (root / "sub").symlink_to(outside)
        with pytest.raises(Refusal, match="moved or deleted in the meantime"):
            writing.write("theirs")
    assert sorted(path.name for path in outside.iterdir()) == ["file"]
    assert (outside / "file").read_text() == "secret"
    assert list((root / "moved").iterdir()) == []


def test_a_folder_moved_out_of_the_root_takes_nothing_with_it(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "sub").mkdir()
    with files.prepare_writing(str(root / "sub" / "file")) as writing:
        (root / "sub").rename(outside / "sub")
        with pytest.raises(Refusal, match="moved or deleted in the meantime"):
            writing.write("theirs")
    assert list((outside / "sub").iterdir()) == []


def test_a_link_planted_where_a_folder_was_to_be_made_is_refused(
    files: FileAccess, root: Path, outside: Path
) -> None:
    with files.prepare_writing(str(root / "new" / "file")) as writing:
        (root / "new").symlink_to(outside)
        with pytest.raises(Refusal):
            writing.write("theirs")
    assert (outside / "file").read_text() == "secret"


def test_a_folder_made_meanwhile_is_taken(files: FileAccess, root: Path) -> None:
    with files.prepare_writing(str(root / "new" / "file")) as writing:
        (root / "new").mkdir()
        writing.write("mine")
    assert (root / "new" / "file").read_text() == "mine"


@contextmanager
def again_and_again(*steps: Callable[[], None]) -> Iterator[None]:
    """Do the steps in another thread, over and over, until the end of the block."""
    end = threading.Event()

    def work() -> None:
        while not end.is_set():
            for step in steps:
                step()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_what_is_said_to_be_inside_is_inside_however_fast_the_link_changes(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "a").mkdir()
    (root / "a" / "file").write_text("mine")
    (root / "link").symlink_to("a")

    def point(target: str) -> None:
        (root / "next").symlink_to(target)
        (root / "next").replace(root / "link")

    seen = set()
    with again_and_again(lambda: point("../outside"), lambda: point("a")):
        for _ in range(20_000):
            with files.open_for_reading(str(root / "link" / "file")) as reading:
                seen.add((reading.inside, reading.text()))
            if len(seen) == 2:
                break
    assert seen == {(True, "mine"), (False, "secret")}


def test_nothing_is_written_outside_however_fast_the_folder_changes(
    files: FileAccess, root: Path, outside: Path
) -> None:
    sub = root / "sub"
    sub.mkdir()
    numbers = count()

    def swap() -> None:
        sub.rename(root / f"away{next(numbers)}")
        with suppress(FileExistsError):  # the writer was quicker and made the folder
            sub.symlink_to(outside)

    def back() -> None:
        with suppress(OSError):
            sub.unlink()
        sub.mkdir(exist_ok=True)

    met: set[bool] = set()
    with again_and_again(swap, back):
        for attempt in range(20_000):
            try:
                with files.prepare_writing(str(sub / "file")) as writing:
                    met.add(writing.inside)
                    if writing.inside:
                        writing.write("theirs")
            except Refusal:
                continue
            if attempt > 50 and len(met) == 2:
                break
    assert met == {True, False}
    assert (outside / "file").read_text() == "secret"
    assert sorted(path.name for path in outside.iterdir()) == ["file"]

"""File access with links and swapped files: the checked file is the one that is read or written."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import Refusal
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

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


# ---- real paths


def test_a_file_outside_is_reported_and_not_refused(files: FileAccess, outside: Path) -> None:
    with files.open_for_reading(str(outside / "file")) as reading:
        assert not reading.inside
        assert reading.text() == "secret"
    with files.prepare_writing(str(outside / "file")) as writing:
        assert not writing.inside
        assert writing.exists


def test_dots_that_leave_the_root_are_outside(files: FileAccess, root: Path, outside: Path) -> None:
    (root / "sub").mkdir()
    path = f"{root}/sub/../../outside/file"
    with files.open_for_reading(path) as reading, files.prepare_writing(path) as writing:
        assert (reading.real, reading.inside) == (outside / "file", False)
        assert (writing.real, writing.inside) == (outside / "file", False)


def test_dots_after_a_link_are_relative_to_its_target(files: FileAccess, root: Path, outside: Path) -> None:
    (outside / "deep").mkdir()
    (root / "link").symlink_to(outside / "deep")
    path = f"{root}/link/../file"  # without resolving links this is root/file
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


def test_new_files_behind_a_link_to_a_folder_outside_are_outside(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "link").symlink_to(outside)
    with files.prepare_writing(str(root / "link" / "new" / "file")) as writing:
        assert (writing.real, writing.inside) == (outside / "new" / "file", False)


def test_a_link_to_a_missing_file_outside_is_outside(files: FileAccess, root: Path, outside: Path) -> None:
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_links_in_proc_are_resolved(files: FileAccess, root: Path, outside: Path) -> None:
    with open(outside / "file") as file:
        path = f"/proc/self/fd/{file.fileno()}"
        with files.open_for_reading(path) as reading, files.prepare_writing(path) as writing:
            assert (reading.real, reading.inside) == (outside / "file", False)
            assert not writing.inside
    with files.open_for_reading("/proc/self/environ") as reading:
        assert not reading.inside
        assert reading.sensitive


# ---- sensitive files


def test_a_sensitive_file_has_its_reason(files: FileAccess, root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    with (
        files.open_for_reading(str(root / ".env")) as reading,
        files.prepare_writing(str(root / ".env")) as writing,
    ):
        assert reading.sensitive == writing.sensitive == "may contain passwords and keys"


def test_a_link_to_a_sensitive_file_is_sensitive(files: FileAccess, root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / "notes.txt").symlink_to(".env")
    with files.open_for_reading(str(root / "notes.txt")) as reading:
        assert reading.sensitive
    with files.prepare_writing(str(root / "notes.txt")) as writing:
        assert writing.sensitive


def test_a_link_with_a_sensitive_name_is_sensitive(files: FileAccess, root: Path) -> None:
    (root / "vault.txt").write_text("KEY=1")
    (root / ".env").symlink_to("vault.txt")
    with files.open_for_reading(str(root / ".env")) as reading:
        assert reading.sensitive


def test_user_patterns_make_files_sensitive(root: Path) -> None:
    (root / "customers.csv").write_text("x")
    files = FileAccess(Roots(root), ["*.csv"])
    with files.open_for_reading(str(root / "customers.csv")) as reading:
        assert reading.sensitive == "matches '*.csv' in workspace.sensitive"


def test_an_ordinary_file_is_not_sensitive(files: FileAccess, root: Path) -> None:
    (root / "main.py").write_text("x")
    with files.open_for_reading(str(root / "main.py")) as reading:
        assert reading.sensitive is None


# ---- files swapped between check and access


def test_a_file_swapped_for_a_link_after_opening_is_still_read(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "file").write_text("mine")
    with files.open_for_reading(str(root / "file")) as reading:
        (root / "file").unlink()
        (root / "file").symlink_to(outside / "file")
        assert (reading.inside, reading.text()) == (True, "mine")


def test_a_file_swapped_for_a_link_before_the_write_is_refused(
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


def test_nothing_is_written_to_a_folder_moved_out_of_the_root(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "sub").mkdir()
    with files.prepare_writing(str(root / "sub" / "file")) as writing:
        (root / "sub").rename(outside / "sub")
        with pytest.raises(Refusal, match="moved or deleted in the meantime"):
            writing.write("theirs")
    assert list((outside / "sub").iterdir()) == []


def test_a_link_created_in_place_of_a_new_folder_is_refused(
    files: FileAccess, root: Path, outside: Path
) -> None:
    with files.prepare_writing(str(root / "new" / "file")) as writing:
        (root / "new").symlink_to(outside)
        with pytest.raises(Refusal):
            writing.write("theirs")
    assert (outside / "file").read_text() == "secret"


def test_a_new_folder_created_by_someone_else_is_used(files: FileAccess, root: Path) -> None:
    with files.prepare_writing(str(root / "new" / "file")) as writing:
        (root / "new").mkdir()
        writing.write("mine")
    assert (root / "new" / "file").read_text() == "mine"


@contextmanager
def repeat_in_thread(*steps: Callable[[], None]) -> Iterator[None]:
    """Repeat the steps in another thread until the end of the block."""
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


def test_reading_reports_the_right_location_while_a_link_changes(
    files: FileAccess, root: Path, outside: Path
) -> None:
    (root / "a").mkdir()
    (root / "a" / "file").write_text("mine")
    (root / "link").symlink_to("a")

    def point(target: str) -> None:
        (root / "next").symlink_to(target)
        (root / "next").replace(root / "link")

    seen = set()
    with repeat_in_thread(lambda: point("../outside"), lambda: point("a")):
        for _ in range(20_000):
            with files.open_for_reading(str(root / "link" / "file")) as reading:
                seen.add((reading.inside, reading.text()))
            if len(seen) == 2:
                break
    assert seen == {(True, "mine"), (False, "secret")}


def test_nothing_is_written_outside_while_a_folder_changes(
    files: FileAccess, root: Path, outside: Path
) -> None:
    sub = root / "sub"
    sub.mkdir()
    numbers = count()

    def swap() -> None:
        sub.rename(root / f"away{next(numbers)}")
        with suppress(FileExistsError):  # the writer has already created the folder
            sub.symlink_to(outside)

    def restore() -> None:
        with suppress(OSError):
            sub.unlink()
        sub.mkdir(exist_ok=True)

    seen: set[bool] = set()
    with repeat_in_thread(swap, restore):
        for attempt in range(20_000):
            try:
                with files.prepare_writing(str(sub / "file")) as writing:
                    seen.add(writing.inside)
                    if writing.inside:
                        writing.write("theirs")
            except Refusal:
                continue
            if attempt > 50 and len(seen) == 2:
                break
    assert seen == {True, False}
    assert (outside / "file").read_text() == "secret"
    assert sorted(path.name for path in outside.iterdir()) == ["file"]

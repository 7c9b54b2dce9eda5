from __future__ import annotations

import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import Refusal
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "root"
    path.mkdir()
    return path


@pytest.fixture
def files(root: Path) -> FileAccess:
    return FileAccess(Roots(root))


def write(files: FileAccess, path: Path | str, content: str) -> None:
    with files.prepare_writing(str(path)) as writing:
        writing.write(content)


def refusal(files: FileAccess, path: Path | str, content: str = "new") -> Refusal:
    with pytest.raises(Refusal) as refused:
        write(files, path, content)
    return refused.value


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "content",
    ["", "no final newline", "dos\r\nends\r\n", "\ufeffmark\n", "gr\u00fc\u00df \U0001f600 \0 \x1b[1m\n"],
)
def test_text_is_written_byte_for_byte(files: FileAccess, root: Path, content: str) -> None:
    (root / "file").write_text("something longer that was there before")
    write(files, root / "file", content)
    assert (root / "file").read_bytes() == content.encode()
    assert names(root) == ["file"]


def test_a_new_file_has_the_default_mode(files: FileAccess, root: Path) -> None:
    (root / "other").touch()
    write(files, root / "new", "x")
    assert (root / "new").stat().st_mode == (root / "other").stat().st_mode


def test_missing_folders_are_listed_and_then_created(files: FileAccess, root: Path) -> None:
    path = root / "a" / "b" / "file"
    with files.prepare_writing(str(path)) as writing:
        assert writing.inside
        assert not writing.exists
        assert writing.real == path
        assert writing.new_directories == [root / "a", root / "a" / "b"]
        assert names(root) == []
        writing.write("x")
    assert path.read_text() == "x"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666, 0o4755])
def test_the_mode_is_kept(files: FileAccess, root: Path, mode: int) -> None:
    (root / "file").touch()
    (root / "file").chmod(mode)
    write(files, root / "file", "x")
    assert stat.S_IMODE((root / "file").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change owners")
def test_root_keeps_the_owner(files: FileAccess, root: Path) -> None:
    (root / "file").touch()
    os.chown(root / "file", 1234, 2345)
    write(files, root / "file", "x")
    status = (root / "file").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


@pytest.mark.parametrize("target", ["real", "sub/../real", "second"])
def test_writing_through_a_link_keeps_the_link(files: FileAccess, root: Path, target: str) -> None:
    (root / "sub").mkdir()
    (root / "second").symlink_to("real")
    (root / "real").write_text("old")
    (root / "link").symlink_to(target)
    with files.prepare_writing(str(root / "link")) as writing:
        assert (writing.real, writing.inside, writing.exists) == (root / "real", True, True)
        writing.write("new")
    assert (root / "link").readlink().name
    assert (root / "link").is_symlink()
    assert (root / "second").is_symlink()
    assert (root / "real").read_text() == "new"


def test_writing_through_a_broken_link_creates_the_target(files: FileAccess, root: Path) -> None:
    (root / "link").symlink_to("folder/real")
    write(files, root / "link", "new")
    assert (root / "link").is_symlink()
    assert (root / "folder" / "real").read_text() == "new"


def test_the_old_text_is_available_before_the_write(files: FileAccess, root: Path) -> None:
    (root / "file").write_text("old")
    (root / "binary").write_bytes(b"\0")
    for name, expected in [("file", "old"), ("binary", None), ("missing", None), ("no/folder", None)]:
        with files.prepare_writing(str(root / name)) as writing:
            assert writing.old_text() == expected


def test_hard_links_keep_the_old_content(files: FileAccess, root: Path) -> None:
    """An atomic write creates a new file, so other hard links, such as in package caches, do not change."""
    (root / "file").write_text("old")
    os.link(root / "file", root / "other")
    write(files, root / "file", "new")
    assert (root / "other").read_text() == "old"


# ---- refusals


def test_text_with_a_lone_surrogate_is_refused(files: FileAccess, root: Path) -> None:
    (root / "file").write_text("old")
    refused = refusal(files, root / "file", "half \ud83d of a pair")
    assert "lone surrogates" in refused.message
    assert str(root / "file") in refused.message
    assert (root / "file").read_text() == "old"


@pytest.mark.parametrize("mode", [0o444, 0o555, 0o400, 0o000])
def test_a_read_only_file_is_refused_even_for_root(files: FileAccess, root: Path, mode: int) -> None:
    (root / "file").write_text("old")
    (root / "file").chmod(mode)
    assert refusal(files, root / "file").message == (
        f"{root / 'file'} cannot be written: it is read-only; nothing was changed"
    )
    (root / "file").chmod(0o600)
    assert (root / "file").read_text() == "old"


def test_a_file_made_read_only_after_the_check_is_refused(files: FileAccess, root: Path) -> None:
    (root / "file").write_text("old")
    with files.prepare_writing(str(root / "file")) as writing:
        (root / "file").chmod(0o444)
        with pytest.raises(Refusal, match="read-only"):
            writing.write("new")
    assert (root / "file").read_text() == "old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(files: FileAccess, root: Path) -> None:
    (root / "sub").mkdir(mode=0o555)
    assert "permission denied" in refusal(files, root / "sub" / "file").message


@pytest.mark.parametrize("name", ["sub", "sub/", "sub/.", "sub/..", "."])
def test_a_directory_is_refused(files: FileAccess, root: Path, name: str) -> None:
    (root / "sub").mkdir()
    assert "it is a directory" in refusal(files, f"{root}/{name}").message


def test_a_file_in_place_of_a_parent_folder_is_refused(files: FileAccess, root: Path) -> None:
    (root / "file").write_text("old")
    assert "a part of its path is a file" in refusal(files, root / "file" / "below").message


def test_dots_after_a_missing_folder_are_refused(files: FileAccess, root: Path) -> None:
    assert "uses .. in a directory that does not exist" in refusal(files, f"{root}/missing/../file").message
    assert names(root) == []


def test_a_link_to_a_missing_folder_is_refused(files: FileAccess, root: Path) -> None:
    (root / "link").symlink_to("missing")
    assert "a link in its path is broken" in refusal(files, root / "link" / "file").message


def test_a_fifo_is_refused_without_blocking(files: FileAccess, root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "not a regular file" in refusal(files, root / "pipe").message
    assert stat.S_ISFIFO((root / "pipe").stat().st_mode)


def test_circular_links_and_long_names_are_refused(files: FileAccess, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert "too many links" in refusal(files, root / "a").message
    assert "too long" in refusal(files, root / ("x" * 300)).message


def test_a_folder_created_in_place_of_the_file_is_refused(files: FileAccess, root: Path) -> None:
    with files.prepare_writing(str(root / "file")) as writing:
        (root / "file").mkdir()
        with pytest.raises(Refusal, match="it is a directory"):
            writing.write("new")
    assert names(root / "file") == []


# ---- concurrent writes


def test_concurrent_writes_are_atomic(files: FileAccess, root: Path) -> None:
    texts = {f"{letter * 300_000}\n" for letter in "abcdef"}
    (root / "file").write_text(next(iter(texts)))
    (root / "link").symlink_to("file")
    seen: set[str] = set()
    failures: list[BaseException] = []
    end = threading.Event()

    def guarded_write(text: str, name: str) -> None:
        try:
            for _ in range(5):
                write(files, root / name, text)
        except BaseException as error:
            failures.append(error)

    def watch() -> None:
        while not end.is_set():
            seen.add((root / "file").read_text())

    reader = threading.Thread(target=watch)
    writers = [
        threading.Thread(target=guarded_write, args=(text, "link" if number % 2 else "file"))
        for number, text in enumerate(sorted(texts))
    ]
    reader.start()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    end.set()
    reader.join()
    assert failures == []
    assert seen <= texts
    assert (root / "file").read_text() in texts
    assert names(root) == ["file", "link"]


def test_concurrent_writes_can_create_the_same_folder(files: FileAccess, root: Path) -> None:
    threads = [
        threading.Thread(target=write, args=(files, root / "new" / "deep" / f"file{number}", str(number)))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(root / "new" / "deep") == [f"file{number}" for number in range(8)]

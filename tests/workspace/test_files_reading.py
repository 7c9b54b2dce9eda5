from __future__ import annotations

import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import Refusal
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> FileAccess:
    return FileAccess(Roots(tmp_path))


def read(files: FileAccess, path: Path, line: int | None = None, limit: int | None = None) -> str:
    with files.open_for_reading(str(path)) as reading:
        return reading.text(line, limit)


def refusal(
    files: FileAccess, path: Path | str, line: int | None = None, limit: int | None = None
) -> Refusal:
    with pytest.raises(Refusal) as refused, files.open_for_reading(str(path)) as reading:
        reading.text(line, limit)
    return refused.value


LINES = "one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, LINES),
        (3, None, "three\nfour\n"),
        (None, 2, "one\ntwo\n"),
        (2, 2, "two\nthree\n"),
        (4, 10, "four\n"),
        (5, None, ""),
        (99, 1, ""),
        (1, 0, ""),
        (0, 1, "one\n"),
        (-3, 1, "one\n"),
        (2, -1, "two\nthree\nfour\n"),
    ],
)
def test_line_and_limit_select_lines(
    files: FileAccess, tmp_path: Path, line: int | None, limit: int | None, expected: str
) -> None:
    (tmp_path / "file").write_text(LINES)
    assert read(files, tmp_path / "file", line, limit) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"no final newline",
        b"one\ntwo",
        b"dos\r\nends\r\n",
        b"mixed\r\nends\n and \r lone\r\n",
        b"\xef\xbb\xbfwith a mark\n",
        "gr\u00fc\u00df \U0001f600 \u2028 \x0c \x85 \u202e\n".encode(),
    ],
)
def test_text_is_read_byte_for_byte(files: FileAccess, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert read(files, tmp_path / "file").encode() == content


def test_lines_end_at_line_feeds_only(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("a\rb\u2028c\x0cd\r\nsecond".encode())
    assert read(files, tmp_path / "file", 2) == "second"
    assert read(files, tmp_path / "file", 1, 1) == "a\rb\u2028c\x0cd\r\n"


def test_lines_across_read_blocks_are_complete(files: FileAccess, tmp_path: Path) -> None:
    lines = [f"{number}:" + "\u00e9\U0001f600" * (number % 700) + "\n" for number in range(2000)]
    (tmp_path / "file").write_text("".join(lines), encoding="utf-8")
    for first, count in [(1, 2000), (500, 3), (777, 1000), (1999, 5), (2000, 1)]:
        found = read(files, tmp_path / "file", first, count)
        assert found == "".join(lines[first - 1 : first - 1 + count])


def test_a_limit_reads_only_the_start_of_a_large_file(files: FileAccess, tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        file.write(b"a line\n" * 10_000)
        file.write(b"\xff not UTF-8\n")
        file.truncate(100_000_000)  # NUL bytes follow: reading them would be an error
    tracemalloc.start()
    try:
        assert read(files, tmp_path / "huge", None, 3) == "a line\n" * 3
        assert read(files, tmp_path / "huge", 9000, 1000) == "a line\n" * 1000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000


def test_a_text_that_is_too_large_is_refused(files: FileAccess, tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with open(path, "wb") as file:
        file.writelines((b"x" * 999 + b"\n") * 1000 for _ in range(60))
    whole = refusal(files, path)
    assert str(path) in whole.message
    assert "`line` and `limit`" in whole.message
    assert refusal(files, path, 2, 59_000).code == whole.code
    assert read(files, path, 60_000, 5) == "x" * 999 + "\n"


def test_a_missing_file_is_a_resource_not_found_error(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing", tmp_path / "no" / "folder", tmp_path / "file" / "below"):
        refused = refusal(files, path)
        assert refused.code == -32002
        assert refused.message == f"Resource not found: {path}"
        assert refused.data == {"path": str(path), "uri": path.as_uri()}


def test_a_broken_link_is_a_missing_file(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert refusal(files, tmp_path / "link").code == -32002


def test_a_directory_is_refused(files: FileAccess, tmp_path: Path) -> None:
    refused = refusal(files, tmp_path)
    assert refused.message == f"{tmp_path} cannot be read: it is a directory"
    assert refused.data == {"path": str(tmp_path)}


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"\x7fELF\0\0\0", None, "it is a binary file"),
        (b"text " * 4000 + b"\0", None, "it is a binary file"),
        (b"fine\ncaf\xe9\n", None, r"it is not valid UTF-8 \(line 2\)"),
        (b"1\n2\n3\n\xed\xa0\x80\n", 3, r"it is not valid UTF-8 \(line 4\)"),  # a lone surrogate
        ("text".encode("utf-16"), None, "it is a binary file"),
    ],
)
def test_a_file_that_is_not_utf8_text_is_refused(
    files: FileAccess, tmp_path: Path, content: bytes, line: int | None, words: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(Refusal, match=f"^{path} cannot be read: {words}$"):
        read(files, path, line)


def test_invalid_utf8_outside_the_requested_lines_is_ignored(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"good\nb\xe4d\nagain\n")
    assert read(files, tmp_path / "file", 1, 1) == "good\n"
    assert read(files, tmp_path / "file", 3) == "again\n"


def test_fifos_and_devices_are_refused_without_blocking(files: FileAccess, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", "/dev/zero", "/dev/tty"):
        assert "cannot be read" in refusal(files, path).message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "closed").touch(mode=0)
    assert refusal(files, tmp_path / "closed").message.endswith("permission denied")


def test_a_name_that_is_too_long_is_refused(files: FileAccess, tmp_path: Path) -> None:
    assert "its name is too long" in refusal(files, tmp_path / ("x" * 300)).message


def test_circular_links_are_refused(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "too many links" in refusal(files, tmp_path / "a").message


def test_a_closed_file_can_be_closed_again_but_not_read(files: FileAccess, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    reading = files.open_for_reading(str(tmp_path / "file"))
    reading.close()
    reading.close()
    with pytest.raises(ValueError, match="closed"):
        reading.text()

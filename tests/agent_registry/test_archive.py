"""Unpacking archives, hostile ones included."""

from __future__ import annotations

import stat
import struct
import tarfile
from typing import TYPE_CHECKING

import pytest

from acp_tui.agent_registry import archive
from acp_tui.agent_registry.archive import is_archive, unpack
from acp_tui.errors import UserError
from tests.support.agent_registry import file_member, special_member, tar_gz, written, zip_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.agent_registry import Member

SYMLINK, HARD_LINK = tarfile.SYMTYPE, tarfile.LNKTYPE


def link(name: str, target: str) -> Member:
    return special_member(name, SYMLINK, target=target, mode=0o777)


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
def test_a_tar_archive_is_unpacked(tmp_path: Path, compression: str) -> None:
    content = tar_gz(
        special_member("./", tarfile.DIRTYPE, mode=0o755),
        file_member("./bin/agent", b"program", 0o755),
        file_member("lib/data", b"data"),
        link("agent", "bin/agent"),
        link("lib/up", "../bin"),
        special_member("copy", HARD_LINK, target="lib/data"),
        compression=compression,
    )
    folder = tmp_path / "out"
    unpack(written(tmp_path / "a", content), folder)
    assert (folder / "agent").read_bytes() == (folder / "lib/up/agent").read_bytes() == b"program"
    assert stat.S_IMODE((folder / "bin/agent").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "lib/data").stat().st_mode) == 0o600
    assert (folder / "copy").read_bytes() == b"data"


def test_a_zip_archive_is_unpacked_with_its_links_and_modes(tmp_path: Path) -> None:
    files = {"bin/agent": b"program", "data/": b"", "link": b"bin/agent"}
    modes = {"bin/agent": 0o100755, "data/": 0o40755, "link": 0o120777}
    folder = tmp_path / "out"
    unpack(written(tmp_path / "a", zip_file(files, modes)), folder)
    assert (folder / "link").resolve() == folder / "bin/agent"
    assert (folder / "bin/agent").stat().st_mode & 0o100
    assert (folder / "data").is_dir()


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([file_member("../evil")], "lies outside"),
        ([file_member("a/../../evil")], "lies outside"),
        ([file_member("/tmp/evil")], "lies outside"),
        ([file_member("a\x1b[2J")], "control characters"),
        ([link("out", "/etc")], "a link that leaves"),
        ([link("out", "..")], "a link that leaves"),
        ([link("here", "."), link("a/out", "../here/../../evil")], "a link that leaves"),
        ([link("one", "two"), link("two", "../..")], "a link that leaves"),
        ([link("loop", ".."), file_member("loop/evil")], "twice"),
        ([link("loop", ".."), link("loop/evil", "x")], "twice"),
        ([special_member("hard", HARD_LINK, target="../evil")], "a link that leaves"),
        ([special_member("hard", HARD_LINK, target="/etc/passwd")], "a link that leaves"),
        ([special_member("device", tarfile.CHRTYPE)], "is a device"),
        ([special_member("disk", tarfile.BLKTYPE)], "is a device"),
        ([special_member("pipe", tarfile.FIFOTYPE)], "is a pipe"),
        ([file_member("root", mode=0o4755)], "set-user-id"),
        ([file_member("group", mode=0o2755)], "set-user-id"),
        ([file_member("twice"), file_member("twice")], "twice"),
    ],
)
def test_a_hostile_tar_archive_is_refused(tmp_path: Path, members: list[Member], why: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with pytest.raises(UserError, match=why):
        unpack(written(tmp_path / "a", tar_gz(*members)), outside / "out")
    assert [path.name for path in outside.iterdir()] == ["out"]
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("name", "content", "mode"),
    [
        ("../evil", b"x", 0o100644),
        ("/tmp/evil", b"x", 0o100644),
        ("link", b"../..", 0o120777),
        ("link", b"/etc/passwd", 0o120777),
        ("device", b"", 0o20644),
        ("root", b"x", 0o104755),
        ("back\\slash", b"x", 0o100644),
    ],
)
def test_a_hostile_zip_archive_is_refused(tmp_path: Path, name: str, content: bytes, mode: int) -> None:
    file = written(tmp_path / "a", zip_file({name: content}, {name: mode}))
    with pytest.raises(UserError, match="The archive is refused"):
        unpack(file, tmp_path / "out")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a", tar_gz(file_member("a", b"\0" * 3000), file_member("b", b"\0" * 3000)))
    with pytest.raises(UserError, match="unpacked"):
        unpack(file, tmp_path / "out", max_bytes=5000)


def test_an_archive_with_too_many_members_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 3)
    file = written(tmp_path / "a", zip_file(dict.fromkeys("abcd", b"")))
    with pytest.raises(UserError, match="more than 3 members"):
        unpack(file, tmp_path / "out")


def test_a_header_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    huge = special_member("x", tarfile.XHDTYPE, content=b"\0" * 2_000_000)
    with pytest.raises(UserError, match="header that is too large"):
        unpack(written(tmp_path / "a", tar_gz(huge)), tmp_path / "out")


GOOD = tar_gz(file_member("agent", b"program" * 1000, 0o755))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not an archive",
        GOOD[:-20],
        GOOD[:40],
        zip_file({"a": b"x" * 100})[:-10],
        b"PK\x05\x06" + b"\xff" * 18,
    ],
    ids=["empty", "text", "cut at the end", "cut in the header", "cut zip", "odd zip"],
)
def test_a_damaged_archive_is_reported(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UserError, match=r"cannot be unpacked"):
        unpack(written(tmp_path / "a", content), tmp_path / "out")


def test_an_encrypted_zip_is_reported(tmp_path: Path) -> None:
    content = bytearray(zip_file({"a": b"x"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", content, content.index(signature) + offset, 1)
    with pytest.raises(UserError, match="encrypted"):
        unpack(written(tmp_path / "a", bytes(content)), tmp_path / "out")


def test_archives_are_known_by_their_names() -> None:
    archives = ("https://x/a.ZIP", "https://x/a.tar.gz?sig=1", "https://x/a.tgz", "https://x/a.tbz2")
    assert all(map(is_archive, archives))
    assert not any(map(is_archive, ("https://x/agent", "https://x/agent-1.0.0", "https://x/a.gz")))

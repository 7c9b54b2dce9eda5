"""Unpacks downloaded archives, which are untrusted: one with anything suspicious is refused as a whole.

Python's own `extractall` filters are not used: they repair some members silently, zip files have none, and
some patch releases of Python 3.11 lack them.
"""

from __future__ import annotations

import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Self

from acp_tui.agent_registry.registry import is_plain
from acp_tui.console import format_size
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

MAX_MEMBERS = 100_000
MAX_UNPACKED_BYTES = 4_000_000_000
BLOCK_BYTES = 1 << 20
_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")


MAX_HEADER_BYTES = 1_000_000
"""The maximum size of an extended header of a tar file, which `tarfile` reads into memory."""
_HEADERS = (b"x", b"g", b"X", b"L", b"K")
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,  # of zipfile, for encryption and unknown compression
    ValueError,  # for impossible names and numbers
)


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an archive of either format."""

    name: str
    kind: str  # file, folder, link, hardlink, or what else it is
    mode: int
    target: str = ""  # of a link
    open: Callable[[], IO[bytes] | None] = lambda: None


def is_archive(address: str) -> bool:
    """Return True if the address ends like that of an archive. Anything else is a program itself."""
    return address.lower().partition("?")[0].partition("#")[0].endswith(_SUFFIXES)


def unpack(
    archive: Path,
    folder: Path,
    *,
    max_bytes: int = MAX_UNPACKED_BYTES,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Unpack an archive into a new folder. Raises `UserError`; then the folder may be half filled.

    Members and links that leave the folder, absolute paths, devices, pipes, set-id bits and duplicates are
    refused. Files are never written through a link: links are created last.
    """
    folder.mkdir(mode=0o700)
    links: list[tuple[Path, str]] = []
    written = 0
    try:
        for count, member in enumerate(_members(archive), start=1):
            if is_cancelled():
                return
            if count > MAX_MEMBERS:
                raise UserError(f"The archive has more than {MAX_MEMBERS:,} members.")
            _check(member)
            path = folder / os.path.normpath(member.name)
            _make_folders(path if member.kind == "folder" else path.parent, folder)
            if member.kind == "link":
                links.append((path, member.target))
            elif member.kind == "hardlink":
                os.link(_linked_file(member, folder), path, follow_symlinks=False)
            elif member.kind == "file":
                written += _write(member, path, max_bytes - written)
        _make_links(links, folder)
    except FileExistsError as error:
        raise _refused(Path(error.filename2 or error.filename).name, "is in the archive twice") from None
    except _DAMAGED as error:
        raise UserError(f"The archive cannot be unpacked: {escape_line(str(error))}.") from None
    except OSError as error:
        raise UserError(f"The archive cannot be unpacked: {error.strerror or error}.") from None


def _members(archive: Path) -> Iterator[_Member]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                yield _zip_member(opened, info)
    else:
        with tarfile.open(archive, "r:*", tarinfo=_LimitedHeader) as tar:
            for entry in tar:
                yield _Member(
                    entry.name,
                    _tar_kind(entry),
                    entry.mode,
                    entry.linkname,
                    partial(tar.extractfile, entry),
                )


class _LimitedHeader(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header. Raises `UserError` for an extended header that would fill the memory."""
        header = super().frombuf(buf, encoding, errors)
        if header.type in _HEADERS and header.size > MAX_HEADER_BYTES:
            raise UserError("The archive is refused: it has a header that is too large.")
        return header


def _tar_kind(entry: tarfile.TarInfo) -> str:
    if entry.isreg():
        return "file"
    if entry.isdir():
        return "folder"
    if entry.issym():
        return "link"
    if entry.islnk():
        return "hardlink"
    return "pipe" if entry.isfifo() else "device"


def _zip_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    mode = info.external_attr >> 16
    target = ""
    if info.is_dir():
        kind = "folder"
    elif stat.S_ISLNK(mode):
        kind = "link"
        with opened.open(info) as file:
            target = os.fsdecode(file.read(4096))
    else:
        kind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "device"
    return _Member(info.filename, kind, stat.S_IMODE(mode), target, partial(opened.open, info))


def _check(member: _Member) -> None:
    if not is_plain(member.name) or not is_plain(member.target):
        raise _refused(member.name, "has control characters or backslashes in its name")
    if member.name.startswith("/") or _leaves(member.name):
        raise _refused(member.name, "lies outside of the archive's folder")
    if member.kind in ("device", "pipe"):
        raise _refused(member.name, f"is a {member.kind}")
    if member.kind != "link" and member.mode & (stat.S_ISUID | stat.S_ISGID):
        raise _refused(member.name, "has a set-user-id or set-group-id bit")
    if member.kind == "hardlink" and (member.target.startswith("/") or _leaves(member.target)):
        raise _refused(member.name, "is a link that leaves the folder")


def _leaves(name: str) -> bool:
    return os.path.normpath(name).split("/")[0] == ".."


def _make_folders(path: Path, folder: Path) -> None:
    """Create a folder with its parents below `folder`. No links exist yet, so none is followed."""
    for part in reversed([path, *path.parents]):
        if part != folder and part.is_relative_to(folder) and not part.is_dir():
            part.mkdir(mode=0o700)


def _linked_file(member: _Member, folder: Path) -> Path:
    target = folder / os.path.normpath(member.target)
    if not stat.S_ISREG(target.lstat().st_mode):
        raise _refused(member.name, "is a link to something else than a file")
    return target


def _write(member: _Member, path: Path, max_bytes: int) -> int:
    """Write a file and return its size."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    size = 0
    with open(os.open(path, flags, 0o700 if member.mode & 0o111 else 0o600), "wb") as file:
        if (content := member.open()) is None:
            return 0
        with content:
            while block := content.read(BLOCK_BYTES):
                size += len(block)
                if size > max_bytes:
                    raise UserError(f"The archive has more than {format_size(MAX_UNPACKED_BYTES)} unpacked.")
                file.write(block)
    return size


def _make_links(links: list[tuple[Path, str]], folder: Path) -> None:
    """Create the symbolic links, and check where they really lead when all of them exist."""
    for path, target in links:
        if target.startswith("/"):
            raise _refused(path.name, "is a link that leaves the folder")
        path.symlink_to(target)  # its parents are folders: a link in their place would exist twice
    root = os.path.realpath(folder)
    for path, _ in links:
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise _refused(path.name, "is a link that leaves the folder")


def _refused(name: str, why: str) -> UserError:
    return UserError(f"The archive is refused: {escape_line(name[:200])} {why}.")

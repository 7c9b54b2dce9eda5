"""Atomic file replacement: at any moment a file holds either its old or its new content."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from acp_tui.config.paths import paths, private_directory
from acp_tui.workspace.files.open_folder import DIRECTORY_FLAGS, Descriptor, real_path

_MAX_LINKS = 40  # the limit of the Linux kernel
_TEMPORARY_NAME = re.compile(r"\.acp-tui-[0-9a-f]{16}\.tmp")
_FD_DIRECTORY = Path("/proc/self/fd")
# Creates a file without a name. The file is linked through /proc, so the flag is useless without /proc.
_O_TMPFILE = getattr(os, "O_TMPFILE", 0) if _FD_DIRECTORY.is_dir() else 0


class UnwritableError(Exception):
    """A file cannot be written. The message can follow "cannot be written: "."""


@dataclass(slots=True)
class WriteTarget:
    """A file to be written: an open directory, and the file's path relative to this directory."""

    directory: Descriptor  # the innermost directory that exists
    directory_path: Path  # its real path when it was found
    missing: list[str]  # directories to be created below it, outermost first
    name: str
    exists: bool

    @property
    def real(self) -> Path:
        """The real path of the file, without links."""
        return self.directory_path.joinpath(*self.missing, self.name)

    @property
    def new_directories(self) -> list[Path]:
        """The directories that writing will create, outermost first."""
        return [self.directory_path.joinpath(*self.missing[: end + 1]) for end in range(len(self.missing))]

    def open_file(self) -> Descriptor:
        """Open the file for reading. Raises `FileNotFoundError` if it does not exist."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with self.directory.borrow() as number:
            return Descriptor(os.open("/".join([*self.missing, self.name]), flags, dir_fd=number))

    @contextmanager
    def open_directory(self) -> Iterator[int]:
        """Yield the descriptor of the file's directory. Create missing directories.

        Raises `UnwritableError` if the directory has been moved: the descriptor still leads to the moved
        directory, but the user has allowed writing to the old path only.
        """
        with self.directory.borrow() as number:
            if real_path(number) != self.directory_path:
                raise UnwritableError("its directory was moved or deleted in the meantime")
            directory = os.dup(number)
        try:
            for name in self.missing:
                inner = _make_directory(directory, name)
                os.close(directory)
                directory = inner
            yield directory
        finally:
            os.close(directory)


def find_target(path: str) -> WriteTarget:
    """Return the target at an absolute path. Follows all links."""
    base, rest = Descriptor(os.open("/", DIRECTORY_FLAGS)), path
    for _ in range(_MAX_LINKS):
        *folders, name = rest.split("/")
        if name in ("", ".", ".."):
            raise UnwritableError("it is a directory")
        names = [folder for folder in folders if folder not in ("", ".")]
        directory, missing = _open_innermost(base, names)
        with directory.borrow() as number:
            target = None if missing else _read_link(number, name)
            if target is None:
                exists = not missing and check_target(number, name)
                return WriteTarget(directory, real_path(number), missing, name, exists)
        base = Descriptor(os.open("/", DIRECTORY_FLAGS)) if target.startswith("/") else directory
        rest = target
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def find_real_target(path: Path) -> WriteTarget:
    """Return the target at a path without links. Raises `UnwritableError` if a folder has become a link."""
    folders = list(path.parent.parts[1:])
    directory, missing = _open_innermost(Descriptor(os.open("/", DIRECTORY_FLAGS)), folders)
    with directory.borrow() as number:
        found = real_path(number)
    if found.joinpath(*missing) != path.parent:
        raise UnwritableError("a folder in its path is now a link")
    return WriteTarget(directory, found, missing, path.name, exists=not missing)


def check_target(directory: int, name: str) -> bool:
    """Return True if the file exists. Raises `UnwritableError` if it must not be replaced."""
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise UnwritableError("it is a directory")
    if stat.S_ISLNK(mode):
        raise UnwritableError("it was replaced by a link in the meantime")
    if not stat.S_ISREG(mode):
        raise UnwritableError("it is not a regular file")
    # Renaming over a file ignores the file's mode, and root may write any file: check the mode explicitly.
    if not mode & 0o222 or not os.access(name, os.W_OK, dir_fd=directory):
        raise UnwritableError("it is read-only")
    return True


def _open_innermost(base: Descriptor, folders: list[str]) -> tuple[Descriptor, list[str]]:
    """Open the innermost existing directory of a path below `base`. Also return the missing directories."""
    with base.borrow() as start:
        for count in range(len(folders), -1, -1):
            with suppress(FileNotFoundError):
                directory = Descriptor(
                    os.open("/".join(folders[:count]) or ".", DIRECTORY_FLAGS, dir_fd=start)
                )
                break
        else:
            raise UnwritableError("its directory was deleted in the meantime")
    missing = folders[count:]
    if ".." in missing:
        raise UnwritableError("its path uses .. in a directory that does not exist")
    if missing:
        with directory.borrow() as number:
            if _read_link(number, missing[0]) is not None:
                raise UnwritableError("a link in its path is broken")
    return directory, missing


def _read_link(directory: int, name: str) -> str | None:
    """Return the target of a link; None if no link has this name."""
    try:
        return os.readlink(name, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _make_directory(directory: int, name: str) -> int:
    """Create a directory unless it exists, and return its open descriptor. Does not follow links."""
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    return os.open(name, DIRECTORY_FLAGS | os.O_NOFOLLOW, dir_fd=directory)


def write_atomically(target: WriteTarget, data: bytes) -> None:
    """Write a file. If the file exists already, keep its mode and owner."""
    with target.open_directory() as directory:
        exists = check_target(directory, target.name)
        old = os.stat(target.name, dir_fd=directory, follow_symlinks=False) if exists else None
        replace_file(directory, target.name, data, old)


def replace_file(
    directory: int,
    name: str,
    data: bytes,
    old: os.stat_result | None,
    permissions: int | None = None,
    *,
    check: Callable[[], None] = lambda: None,
    is_new: bool = False,
) -> None:
    """Create a file, replacing any file or link of the same name.

    Args:
        directory: Descriptor of the open directory.
        name: Name of the file in the directory.
        data: The content.
        old: Status of the file whose mode and owner the new file gets; None if there is no such file.
        permissions: Permission bits that override those of `old`.
        check: Called immediately before the file is replaced. If it raises an exception, nothing is replaced.
        is_new: Whether to raise `FileExistsError` instead of replacing a file that has appeared meanwhile.
    """
    # Until the final mode is set, no other user may read the file.
    mode = 0o666 if old is None and permissions is None else 0o600
    with _temporary_file(directory, mode) as (file, link):
        _write_all(file, data)
        if old is not None:
            _copy_owner_and_mode(file, old)
        if permissions is not None:
            os.fchmod(file, permissions)
        os.fsync(file)
        check()
        temporary = link()
        if is_new:
            _link_or_rename(directory, temporary, name)
        else:
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    _sync(directory)


def replace_with_link(
    directory: int,
    name: str,
    target: bytes,
    *,
    check: Callable[[], None] = lambda: None,
    is_new: bool = False,
) -> None:
    """Create a symbolic link, replacing any file or link of the same name, as `replace_file` does."""
    if is_new:
        os.symlink(target, name, dir_fd=directory)
        return
    temporary = _temporary_name()
    with _recorded(directory, temporary):
        os.symlink(target, temporary, dir_fd=directory)
        try:
            check()
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            os.unlink(temporary, dir_fd=directory)
            raise


def _link_or_rename(directory: int, temporary: str, name: str) -> None:
    """Give a file its final name. Raises `FileExistsError`, if the file system supports hard links."""
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except FileExistsError:
        raise
    except OSError:
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


# --------------------------------------------------------------------------- temporary names

# A process that is killed may leave a temporary name behind. So each name is recorded as long as it is used.


def _temporary_name() -> str:
    return f".acp-tui-{secrets.token_hex(8)}.tmp"


def _records() -> Path:
    return paths().state / "unfinished-writes"


@contextmanager
def _recorded(directory: int, name: str) -> Iterator[None]:
    """Record a temporary name during the `with` block, as a link to it that is named after this process."""
    record = _records() / f"{os.getpid()}-{name}"
    try:
        with suppress(OSError):  # the record is less important than the file
            private_directory(record.parent)
            record.symlink_to(_path_of(directory) / name)
        yield
    finally:
        with suppress(OSError):
            record.unlink()


def _path_of(directory: int) -> Path:
    """Return the path of an open directory. Raises `OSError`."""
    if _FD_DIRECTORY.is_dir():
        return (_FD_DIRECTORY / str(directory)).readlink()
    path = fcntl.fcntl(directory, getattr(fcntl, "F_GETPATH", 50), bytes(1024))
    return Path(os.fsdecode(path.rstrip(b"\0")))


def remove_unfinished_writes() -> None:
    """Delete the temporary files of acp-tui processes that were killed. Never raises `OSError`."""
    with suppress(OSError):
        for record in _records().iterdir():
            process, _, name = record.name.partition("-")
            if not process.isdecimal() or _is_running(int(process)):
                continue
            with suppress(OSError):
                target = record.readlink()
                if target.name == name and _TEMPORARY_NAME.fullmatch(name):
                    target.unlink(missing_ok=True)
                record.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def _temporary_file(directory: int, mode: int) -> Iterator[tuple[int, Callable[[], str]]]:
    """Create a file; yield its descriptor, and a function that returns the file's temporary name.

    If the file system supports unnamed files, the file has no name until that function is called, so that a
    crash leaves nothing behind.
    """
    name = _temporary_name()
    flags = os.O_WRONLY | os.O_CLOEXEC
    file = -1
    if _O_TMPFILE:
        with suppress(OSError):
            file = os.open(".", flags | _O_TMPFILE, mode, dir_fd=directory)
    unnamed = file >= 0
    with ExitStack() as stack:
        if not unnamed:
            stack.enter_context(_recorded(directory, name))
            file = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=directory)

        def link() -> str:
            if unnamed:
                stack.enter_context(_recorded(directory, name))
                os.link(_FD_DIRECTORY / str(file), name, dst_dir_fd=directory, follow_symlinks=True)
            return name

        try:
            yield file, link
        finally:
            os.close(file)
            with suppress(FileNotFoundError):  # it was renamed, or never linked
                os.unlink(name, dir_fd=directory)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _copy_owner_and_mode(file: int, old: os.stat_result) -> None:
    """Give the file the mode of `old` and, if permitted, the owner and group of `old`.

    If the owner or group cannot be set, the set-user-ID and set-group-ID bits of the mode are left out.
    """
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(file)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(file, old.st_uid, old.st_gid)
        except PermissionError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # these would now grant another user's rights
    os.fchmod(file, mode)


def _sync(directory: int) -> None:
    """Make a rename in the directory durable. Failures are ignored: the file is complete either way."""
    with suppress(OSError):
        file = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(file)
        finally:
            os.close(file)

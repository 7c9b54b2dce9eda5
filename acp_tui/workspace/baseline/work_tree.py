"""One work tree of the baseline: which files it covers, how they were, and how they differ now.

What existed and is not covered is remembered by name, so that no file is ever taken for a new one that
was merely ignored, too large or unreadable before.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.baseline.changes import FileChange, OriginalState
from acp_tui.workspace.baseline.private_git import (
    GIT_TIMEOUT_SECONDS,
    GitContext,
    GitError,
    blob_name,
    users_ignore_file,
)
from acp_tui.workspace.baseline.repository import find_repository
from acp_tui.workspace.baseline.snapshot import NotCopiedError, read_content, signature
from acp_tui.workspace.baseline.unlisted import (
    ATTRIBUTES_FILE,
    GIT_DIRECTORY,
    IGNORE_FILE,
    WHOLE_FOLDER,
    find_unlisted,
    special_control_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from acp_tui.workspace.baseline.changes import ChangeKind
    from acp_tui.workspace.baseline.private_git import PrivateGit

# Dependencies and products, which tools make again. Only untracked ones are left out: a project that
# tracks its `build` folder has sources there.
EXCLUDED_FOLDERS = (
    *("node_modules", "bower_components", ".venv", "venv", ".tox", ".nox", ".eggs", "*.egg-info", ".pixi"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".direnv", ".cache"),
    *("target", "build", "dist", "out", ".build", "_build", ".gradle", "DerivedData", "Pods", ".terraform"),
    *(".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".dart_tool", ".stack-work"),
    *("dist-newstyle", "elm-stuff", "coverage", ".nyc_output", ".hg", ".svn", ".jj"),
)

_OLDER = "it may predate the session, and there is no copy of it"
_UNKNOWN = "it may have existed before the session, and there is no copy of it"
_EXCLUDE_LEFT_OUT = tuple(f"--exclude={name}/" for name in EXCLUDED_FOLDERS)
_NOT_ENTERED = frozenset({GIT_DIRECTORY, *(name.encode() for name in EXCLUDED_FOLDERS if "*" not in name)})


class LimitExceededError(Exception):
    """The folder holds more than a baseline should."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a baseline covers at most."""

    file_size: int = 5_000_000
    files: int = 100_000
    total_size: int = 2_000_000_000
    listing_seconds: float = 30.0  # git walks the whole folder before it says a word
    git_seconds: float = GIT_TIMEOUT_SECONDS  # for any other command


@dataclass(slots=True)
class SkippedFile:
    """A file that existed and was not copied."""

    why: str
    signature: tuple[int, ...] | None


class WorkTree:
    """One folder of the snapshot, inside a git repository or not."""

    def __init__(
        self, git: PrivateGit, root: Path, number: int, limits: Limits, without: Iterable[Path] = ()
    ) -> None:
        self.root = root
        self._git = git
        self._limits = limits
        self._repository = find_repository(root)
        self._top = self._find_top(number)
        self._index = git.directory / f"index.{number}"
        self._tree = GitContext(self._top, root, self._index)
        self._index_only = GitContext(
            git.directory, git.directory, self._index
        )  # works when the folder is gone
        self._excludes = self._exclude_options(without)
        self._unknown: set[bytes] = set()  # ignored, left out or unreadable; folders end with a slash
        self._skipped: dict[bytes, SkippedFile] = {}
        self._special: set[bytes] = set()  # of the files that git opens by itself, those that it must not
        self._began = time.time()
        self._usual: dict[bool, int] = {}  # the permissions most files have, by executable or not
        self._unusual: dict[bytes, int] = {}

    def _find_top(self, number: int) -> Path:
        """Where the ignore rules begin. A folder that is ignored as a whole is one by itself."""
        if self._repository is None or self._repository.top == self.root:
            return self.root
        top = self._repository.top
        tree = GitContext(top, top, self._git.directory / f"none.{number}")
        words = ["check-ignore", "--no-index", "--", f"./{self.root.relative_to(top)}"]
        if self._git.run(*words, tree=tree, ok=(0, 1)):
            self._repository = None
            return self.root
        return top

    @property
    def _ignore_options(self) -> list[str]:
        """What is ignored, without reading any `.gitignore` when one of them is a pipe."""
        if IGNORE_FILE in self._special:
            return [f"--exclude-from={users_ignore_file()}", *self._excludes]
        return ["--exclude-standard", *self._excludes]

    def _exclude_options(self, without: Iterable[Path]) -> list[str]:
        options = [
            f"--exclude=/{_literal(str(folder.relative_to(self._top)))}"
            for folder in without
            if folder != self.root and folder.is_relative_to(self.root)
        ]
        if self._repository is not None:
            own = self._repository.common_dir / "info" / "exclude"
            if own.is_file():
                copy = self._index.with_suffix(f"{self._index.suffix}.exclude")
                _copy(own, copy)
                options.append(f"--exclude-from={copy}")
        return [*_EXCLUDE_LEFT_OUT, *options]

    # ---- taking

    def take(self, totals: Totals, progress: Callable[[int, int], None]) -> list[Path]:
        """Copy everything that is covered; the repositories nested inside are returned, not entered."""
        self._special = special_control_files(
            os.fsencode(self._top), self._below_top(), not_entered=_NOT_ENTERED
        )
        names: set[bytes] = set()
        nested: list[Path] = []
        for name in self._untracked(self._limits.listing_seconds):
            if name.endswith(b"/"):
                nested.append(self._path(name))
            else:
                names.add(name)
            if len(names) + totals.files > self._limits.files:
                raise LimitExceededError(f"more than {self._limits.files} files")
        names |= self._tracked_though_ignored()
        words = ["ls-files", "--others", "--ignored", "--directory", "--full-name", *self._ignore_options]
        for name in self._git.records(*words, tree=self._tree):
            self._unknown.add(name)
            if len(self._unknown) > self._limits.files:
                raise LimitExceededError(f"more than {self._limits.files} ignored files")
        known = names | self._unknown | {os.fsencode(path.relative_to(self._top)) + b"/" for path in nested}
        self._unknown |= find_unlisted(os.fsencode(self._top), self._below_top(), known)
        self._copy(sorted(names), totals, progress)
        return nested

    def _untracked(self, seconds: float | None = None) -> Iterator[bytes]:
        words = ["ls-files", "--others", "--full-name", *self._ignore_options]
        return self._git.records(*words, tree=self._tree, seconds=seconds)

    def _tracked_though_ignored(self) -> set[bytes]:
        """Files that the user's repository tracks in spite of the rules, read from a copy of its index."""
        index = self._repository.git_dir / "index" if self._repository else None
        if index is None or not index.is_file():
            return set()
        copy = self._git.directory / "users-index"
        try:
            _copy(index, copy)
            words = ["ls-files", "--cached", "--ignored", "--full-name", *self._ignore_options]
            return set(self._git.records(*words, tree=GitContext(self._top, self.root, copy)))
        except (OSError, GitError):  # of a form that only its own repository can read
            return set()
        finally:
            copy.unlink(missing_ok=True)

    def _copy(self, names: Sequence[bytes], totals: Totals, progress: Callable[[int, int], None]) -> None:
        entries: list[bytes] = []
        with self._git.storing() as store:
            for done, name in enumerate(names):
                if done % 256 == 0:
                    progress(done, len(names))
                path = self._bytes_path(name)
                try:
                    now = read_content(path, self._limits.file_size)
                except NotCopiedError as error:
                    if not Path(os.fsdecode(path)).is_dir():
                        self._skipped[name] = SkippedFile(str(error), signature(path))
                    continue
                if now is None:  # it vanished since it was listed
                    self._unknown.add(name)
                    continue
                entries.append(b"%o %b\t%b\0" % (_git_mode(now.mode), store.add(now.data).encode(), name))
                self._remember_mode(name, now.mode)
                totals.count(len(now.data), self._limits)
        self._git.run("update-index", "-z", "--index-info", tree=self._tree, stdin=b"".join(entries))
        progress(len(names), len(names))

    def _remember_mode(self, name: bytes, mode: int) -> None:
        """git keeps one bit of the permissions; a file that was deleted comes back with all of them."""
        if stat.S_ISREG(mode) and self._usual.setdefault(bool(mode & stat.S_IXUSR), mode) != mode:
            self._unusual[name] = mode

    # ---- what was

    def covers(self, path: Path) -> bool:
        """Is the path at or below this folder?"""
        return path.is_relative_to(self.root)

    def old(self, path: Path) -> OriginalState | None:
        """How a path was; None when it was ignored, left out or could not be listed."""
        name = os.fsencode(path.relative_to(self._top))
        for record in self._git.records(
            "ls-files", "--stage", "--", f":(literal){os.fsdecode(name)}", tree=self._index_only
        ):
            facts, _, found = record.partition(b"\t")
            if found == name:
                mode, blob, _stage = facts.decode().split()
                return OriginalState(existed=True, blob=blob, mode=self._full_mode(name, int(mode, 8)))
        if name in self._skipped:
            return OriginalState(existed=True, revert_obstacle=self._skipped[name].why)
        return None if self._was_unknown(name) else OriginalState(existed=False)

    def _full_mode(self, name: bytes, mode: int) -> int:
        if not stat.S_ISREG(mode):
            return mode
        return self._unusual.get(name) or self._usual.get(bool(mode & stat.S_IXUSR), mode)

    def _was_unknown(self, name: bytes) -> bool:
        if name in self._unknown or WHOLE_FOLDER in self._unknown or GIT_DIRECTORY in name.split(b"/"):
            return True
        return any(name[: end + 1] in self._unknown for end, byte in enumerate(name) if byte == 0x2F)

    # ---- what is different now

    def changes(self) -> Iterator[FileChange]:
        """Everything below the folder that is not as it was."""
        if not self.root.is_dir():
            yield from self._all_deleted()
            return
        self._special = special_control_files(
            os.fsencode(self._top), self._below_top(), ignored=self._unknown
        )
        refreshed = ATTRIBUTES_FILE not in self._special
        if refreshed:  # compares what looks different by its content once, and remembers that it was not
            self._git.run("update-index", "-q", "--refresh", tree=self._tree, ok=(0, 1))
        records = self._git.records("diff-files", "--raw", "--no-abbrev", tree=self._tree)
        for facts in records:
            old_mode, new_mode, blob, _new, status = facts.decode().removeprefix(":").split()
            path = self._path(next(records))
            kind: ChangeKind = "deleted" if status == "D" else "modified"
            if status == "M" and (old_mode != new_mode or not refreshed) and self._blob_now(path) == blob:
                if old_mode == new_mode:
                    continue
                kind = "mode"
            yield FileChange(path, kind)
        yield from self._added()
        for name, skipped in self._skipped.items():
            now = signature(self._bytes_path(name))
            if now != skipped.signature:
                yield FileChange(self._path(name), "modified" if now else "deleted", skipped.why)

    def _all_deleted(self) -> Iterator[FileChange]:
        for name in self._git.records("ls-files", "--cached", tree=self._index_only):
            yield FileChange(self._path(name), "deleted")
        for name, skipped in self._skipped.items():
            yield FileChange(self._path(name), "deleted", skipped.why)

    def _added(self) -> Iterator[FileChange]:
        paths: list[Path] = []
        for name in self._untracked():
            listed = self._path(name)
            for path in self._nested(listed) if name.endswith(b"/") else [listed]:
                full_name = os.fsencode(path.relative_to(self._top))
                if self._was_unknown(full_name):
                    if self._changed_since(path):
                        yield FileChange(path, "unknown", _UNKNOWN)
                elif full_name not in self._skipped:
                    paths.append(path)
        stay = self._irreplaceable(paths)
        for path in paths:
            yield FileChange(path, "added", _OLDER if path in stay else None)

    def _nested(self, top: Path) -> Iterator[Path]:
        """A repository that came to be inside this folder: every file of it is new."""
        tree = GitContext(top, top, self._git.directory / "none")
        for name in self._git.records("ls-files", "--others", *self._ignore_options, tree=tree):
            path = top / os.fsdecode(name)
            if name.endswith(b"/"):
                yield from self._nested(path)
            else:
                yield path

    def removal_obstacle(self, path: Path) -> str | None:
        """Why a file that seems new must stay; None when it may go."""
        return _OLDER if self._irreplaceable([path]) else None

    def _irreplaceable(self, paths: Iterable[Path]) -> set[Path]:
        """Files that seem new, are older than the baseline all the same, and of which there is no copy.

        They were moved here, or were hidden from us before. No program can set this time back.
        """
        older = {path: self._blob_now(path) or "" for path in paths if self._changed_since(path) is False}
        copies = self._git.present([blob for blob in older.values() if blob])
        return {path for path, blob in older.items() if blob not in copies}

    def _changed_since(self, path: Path) -> bool | None:
        """Was the file made or changed after the baseline was taken? None: it is not there."""
        try:
            return path.lstat().st_ctime >= self._began
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _blob_now(self, path: Path) -> str | None:
        """The name of the present content; None when it cannot be one that was copied."""
        try:
            now = read_content(bytes(path), self._limits.file_size)
        except NotCopiedError:
            return None
        return blob_name(now.data) if now else None

    def _below_top(self) -> bytes:
        """The name of the folder itself, as a prefix of the names in it."""
        return b"" if self.root == self._top else os.fsencode(self.root.relative_to(self._top)) + b"/"

    def _path(self, name: bytes) -> Path:
        return self._top / os.fsdecode(name)

    def _bytes_path(self, name: bytes) -> bytes:
        return os.path.join(os.fsencode(self._top), name)  # noqa: PTH118 - names need not be UTF-8, and are many


@dataclass(slots=True)
class Totals:
    """How much has been copied so far, over all areas."""

    files: int = 0
    size: int = 0

    def count(self, size: int, limits: Limits) -> None:
        """One more file."""
        self.files += 1
        self.size += size
        if self.size > limits.total_size:
            raise LimitExceededError(f"more than {limits.total_size / 1_000_000_000:g} GB")


def _copy(source: Path, target: Path) -> None:
    with (
        open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as old,
        open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as new,
    ):
        shutil.copyfileobj(old, new)


def _git_mode(mode: int) -> int:
    if stat.S_ISLNK(mode):
        return 0o120000
    return 0o100755 if mode & stat.S_IXUSR else 0o100644


def _literal(name: str) -> str:
    """A name as an ignore pattern that matches only itself."""
    return "".join(f"\\{sign}" if sign in "\\*?[ " else sign for sign in name)

"""The snapshot of one folder: the folder's files, their original state, and how the files differ now.

Files that existed but were not copied are remembered by name. Otherwise, a file that was ignored, too
large or unreadable at first could count as new later, and reverting the change would delete the file.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from acp_tui.workspace.baseline.file_change import (
    ChangeKind,
    FileChange,
    FileState,
    LimitExceededError,
    Limits,
    NotCopiedError,
    Totals,
    read_content,
    signature,
)
from acp_tui.workspace.baseline.saved_state import signature_from_json
from acp_tui.workspace.files.file_listing import GENERATED_FOLDERS
from acp_tui.workspace.git.git_commands import GIT_DIRECTORY, GitError, GitWorkTree, PrivateGit, blob_name
from acp_tui.workspace.git.repository import Repository, find_repository
from acp_tui.workspace.git.tracked_files import TrackedFiles, adopt_tracked_files, converted_files, is_inside

IGNORE_FILE, ATTRIBUTES_FILE = b".gitignore", b".gitattributes"
CONTROL_FILES = (IGNORE_FILE, ATTRIBUTES_FILE)
"""Files of the work tree that git reads by itself. If one of them is a pipe, git blocks forever."""
WHOLE_FOLDER = b""
"""The name of the top folder relative to itself. `find_unlisted` returns it if that folder is unreadable."""
_NAMES_PER_COMMAND = 500
_TOO_MANY = "there were too many untracked files to copy"
_NOT_FROM_COMMIT = "the commit that the worktree began with has no usable copy of it"
_UNKNOWN = "it may have existed before the session, and there is no copy of it"
_EXCLUDE_GENERATED = tuple(f"--exclude={name}/" for name in GENERATED_FOLDERS)
_SKIPPED_FOLDERS = frozenset(
    {GIT_DIRECTORY, *(name.encode() for name in GENERATED_FOLDERS if "*" not in name)}
)


class FileModes:
    """Remembers the permission bits of files, so that deleted files can be restored with the same bits."""

    def __init__(self) -> None:
        self._usual: dict[bool, int] = {}  # the first mode found, by whether the file is executable
        self._unusual: dict[bytes, int] = {}

    def remember(self, name: bytes, mode: int) -> None:
        if stat.S_ISREG(mode) and self._usual.setdefault(bool(mode & stat.S_IXUSR), mode) != mode:
            self._unusual[name] = mode

    def forget(self, name: bytes) -> None:
        """Forget the mode of a file, which gets the usual one."""
        self._unusual.pop(name, None)

    def to_json(self) -> dict[str, Any]:
        """Return the modes as a value that can be saved."""
        return {
            "usual": {str(int(executable)): mode for executable, mode in self._usual.items()},
            "unusual": {os.fsdecode(name): mode for name, mode in self._unusual.items()},
        }

    @classmethod
    def from_json(cls, value: Any) -> FileModes:
        """Return saved modes. Raises `KeyError`, `TypeError` or `ValueError` if they are damaged."""
        modes = cls()
        modes._usual = {key == "1": int(mode) for key, mode in value["usual"].items()}
        modes._unusual = {os.fsencode(name): int(mode) for name, mode in value["unusual"].items()}
        return modes

    def full_mode(self, name: bytes, mode: int) -> int:
        """Return the remembered `st_mode` of a file. `mode` is the mode that git stores for the file."""
        if not stat.S_ISREG(mode):
            return mode
        return self._unusual.get(name) or self._usual.get(bool(mode & stat.S_IXUSR), mode)


def git_mode(mode: int) -> int:
    """Return the mode that git stores for a file with this `st_mode`."""
    if stat.S_ISLNK(mode):
        return 0o120000
    return 0o100755 if mode & stat.S_IXUSR else 0o100644


def find_unlisted(top: bytes, folder: bytes, listed: AbstractSet[bytes]) -> set[bytes]:
    """Return the names of all files below `folder`, without the names in `listed`. Blocks.

    All names are relative to `top`; names of folders end with a slash. Listed folders and git directories are
    skipped. If a folder cannot be read, its own name is in the result.
    """
    found: set[bytes] = set()
    stack = [folder]
    while stack:
        below = stack.pop()
        try:
            with os.scandir(os.path.join(top, below)) as entries:  # noqa: PTH118 - names need not be UTF-8
                for entry in entries:
                    name = below + entry.name
                    if entry.name == GIT_DIRECTORY:
                        continue
                    if not entry.is_dir(follow_symlinks=False):
                        if name not in listed:
                            found.add(name)
                    elif (name := name + b"/") not in listed:
                        stack.append(name)
        except FileNotFoundError:
            continue
        except OSError:
            found.add(below)
    return found


class ControlFilesFound(NamedTuple):
    special: set[bytes]
    """Those names in `CONTROL_FILES` that belong to a pipe or another special file."""
    attributes: set[bytes]
    """The paths of all `.gitattributes` files, relative to the top of the work tree.

    For folders above the searched one, the path is included whether or not the file exists.
    """


def find_control_files(
    top: bytes,
    folder: bytes,
    *,
    skipped_names: AbstractSet[bytes] = frozenset({GIT_DIRECTORY}),
    skipped_paths: AbstractSet[bytes] = frozenset(),
) -> ControlFilesFound:
    """Find the `.gitattributes` files of a work tree, and special files that git would read. Blocks.

    Searches `folder`, everything below `folder`, and the parents of `folder` up to and including `top`.
    `skipped_names` are names of folders to skip; `skipped_paths` are paths of folders to skip, relative to
    `top` and with a slash at the end.
    """
    parents = [folder[:end] for end in range(len(folder)) if end == 0 or folder[end - 1 : end] == b"/"]
    special = {name for name in CONTROL_FILES for parent in parents if _is_special(top, parent + name)}
    attributes = {parent + ATTRIBUTES_FILE for parent in parents}
    stack = [folder]
    while stack:
        below = stack.pop()
        try:
            with os.scandir(os.path.join(top, below)) as entries:  # noqa: PTH118 - names need not be UTF-8
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        name = below + entry.name + b"/"
                        if entry.name not in skipped_names and name not in skipped_paths:
                            stack.append(name)
                    elif entry.name in CONTROL_FILES:
                        if not entry.is_file():
                            special.add(entry.name)
                        elif entry.name == ATTRIBUTES_FILE:
                            attributes.add(below + entry.name)
        except OSError:
            continue
    return ControlFilesFound(special, attributes)


def _is_special(top: bytes, name: bytes) -> bool:
    path = os.path.join(top, name)  # noqa: PTH118 - names need not be UTF-8
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113


@dataclass(slots=True)
class SkippedFile:
    """A file that existed when the snapshot was taken, but was not copied."""

    why: str
    signature: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class WorktreeBase:
    """The commit from which a git worktree was created, and the worktree's top folder."""

    top: Path
    commit: str


def worktree_base(top: Path, commit: str) -> WorktreeBase | None:
    """Return the base of a worktree; None if `commit` is not the id of a commit."""
    return WorktreeBase(top.resolve(), commit) if re.fullmatch("[0-9a-f]{40,64}", commit) else None


class FolderSnapshot:
    """The snapshot of one folder. The folder need not be in a git repository.

    Args:
        git: The private repository in which the contents are stored.
        root: The folder.
        number: A number that is different for each snapshot in `git`.
        limits: The limits. `files` and `total_size` apply to all snapshots in `git` together.
        exclude: Folders to leave out.
        top: The topmost folder when the snapshot was taken; None if it is still to be taken.
    """

    def __init__(
        self,
        git: PrivateGit,
        root: Path,
        number: int,
        limits: Limits,
        exclude: Iterable[Path] = (),
        *,
        top: Path | None = None,
    ) -> None:
        self.root = root
        self._git = git
        self._number = number
        self._limits = limits
        self._repository = find_repository(root)
        if top is not None and (self._repository is None or self._repository.top != top):
            self._repository = None
        self._top = self._find_top(number) if top is None else top
        self._index = git.directory / f"index.{number}"
        self._tree = GitWorkTree(self._top, root, self._index)
        # For commands that need no files: works even if the folder has been deleted.
        self._index_only = GitWorkTree(git.directory, git.directory, self._index)
        self._excludes = self._exclude_options(exclude)
        self._unknown: set[bytes] = set()  # ignored, left out or unreadable; folders end with a slash
        self._skipped: dict[bytes, SkippedFile] = {}
        self._special: set[bytes] = set()  # control files that are pipes or the like: git must not open them
        self.uncopied = 0
        """The number of untracked files that were not copied because a limit was reached."""
        self.base_problem: str | None = None
        """Why the files could not be compared with the commit of a worktree; None if they could."""
        self._began = time.time()
        self._modes = FileModes()

    def _find_top(self, number: int) -> Path:
        """Return the topmost folder whose ignore rules apply: the repository's top, or else the root.

        A root that its repository ignores is treated as if it were in no repository.
        """
        if self._repository is None or self._repository.top == self.root:
            return self.root
        top = self._repository.top
        tree = GitWorkTree(top, top, self._git.directory / f"none.{number}")
        if self._git.ignores(tree, f"./{self.root.relative_to(top)}"):
            self._repository = None
            return self.root
        return top

    @property
    def _ignore_options(self) -> list[str]:
        """The options that tell `git ls-files` what to ignore.

        If any `.gitignore` is a pipe, the options keep git from reading `.gitignore` files at all.
        """
        if IGNORE_FILE in self._special:
            return [f"--exclude-from={self._git.ignore_file}", *self._excludes]
        return ["--exclude-standard", *self._excludes]

    def _exclude_options(self, exclude: Iterable[Path]) -> list[str]:
        options = [
            f"--exclude=/{_escape_pattern(str(folder.relative_to(self._top)))}"
            for folder in exclude
            if folder != self.root and folder.is_relative_to(self.root)
        ]
        if self._repository is not None:
            own = self._repository.common_dir / "info" / "exclude"
            if own.is_file():
                copy = self._index.with_suffix(f"{self._index.suffix}.exclude")
                _copy(own, copy)
                options.append(f"--exclude-from={copy}")
        return [*_EXCLUDE_GENERATED, *options]

    # ---- taking the snapshot

    def take(
        self, totals: Totals, progress: Callable[[int, int], None], base: WorktreeBase | None = None
    ) -> list[Path]:
        """Copy the files of the folder. Return nested repositories, which are not copied.

        In the worktree of `base`, the commit takes the place of the files on disk, which are copied all the
        same, so that none can be lost.

        Raises `LimitExceededError`, `GitError` and `OSError`.
        """
        self._special, attributes = find_control_files(
            os.fsencode(self._top), self._below_top(), skipped_names=_SKIPPED_FOLDERS
        )
        tracked = self._adopt_tracked(attributes, totals)
        adopted: AbstractSet[bytes] = tracked.modes.keys() if tracked else set()
        names: set[bytes] = set()
        nested: list[Path] = []
        for name in self._untracked(self._limits.listing_seconds):
            if name.endswith(b"/"):
                nested.append(self._path(name))
            else:
                names.add(name)
            if len(names) + totals.files > self._limits.files:
                raise LimitExceededError(f"more than {self._limits.files} files")
        if tracked is None or tracked.others:
            names |= self._tracked_though_ignored() - adopted
        for name in self._git.ignored(self._tree, self._ignore_options):
            self._unknown.add(name)
            if len(self._unknown) > self._limits.files:
                raise LimitExceededError(f"more than {self._limits.files} ignored files")
        known = (
            names
            | adopted
            | self._unknown
            | {os.fsencode(path.relative_to(self._top)) + b"/" for path in nested}
        )
        self._unknown |= find_unlisted(os.fsencode(self._top), self._below_top(), known)
        self._copy(self._within_limits(names, tracked), totals, progress)
        if base is not None and self._repository is not None and self._repository.top == base.top:
            try:
                self._replace_by_commit(self._repository, base.commit, attributes)
            except (GitError, OSError) as error:
                self.base_problem = str(error)
        return nested

    def _within_limits(self, names: set[bytes], tracked: TrackedFiles | None) -> list[bytes]:
        """Return the names of the files to copy, sorted. Mark untracked files beyond a limit as skipped."""
        if tracked is None:
            return sorted(names)
        wanted = names & tracked.others
        files = size = 0
        for name in sorted(names - wanted):
            now = signature(self._bytes_path(name))
            files, size = files + 1, size + (now[2] if now else 0)
            if files > self._limits.untracked_files or size > self._limits.untracked_size:
                self._skipped[name] = SkippedFile(_TOO_MANY, now)
                self.uncopied += 1
            else:
                wanted.add(name)
        return sorted(wanted)

    def _untracked(self, seconds: float | None = None) -> Iterator[bytes]:
        return self._git.untracked(self._tree, self._ignore_options, seconds=seconds)

    def _adopt_tracked(self, attributes: Iterable[bytes], totals: Totals) -> TrackedFiles | None:
        """Return the tracked files, whose contents can mostly be taken from the user's repository.

        Return None if there is no repository, if the repository cannot be used, or if a `.gitignore` or
        `.gitattributes` is a pipe or another special file.
        """
        if self._repository is None or self._special:
            return None
        try:
            tracked = adopt_tracked_files(self._git, self._repository, self._tree, attributes)
        except (GitError, OSError):
            self._index.unlink(missing_ok=True)
            return None
        for name, mode in tracked.modes.items():
            self._modes.remember(name, mode)
        totals.files += len(tracked.modes)
        return tracked

    def _tracked_though_ignored(self) -> set[bytes]:
        """Return the files that the user's repository both ignores and tracks. Reads a copy of its index."""
        index = self._repository.git_dir / "index" if self._repository else None
        if index is None or not index.is_file():
            return set()
        copy = self._git.directory / "users-index"
        try:
            _copy(index, copy)
            tree = GitWorkTree(self._top, self.root, copy)
            return {*filter(is_inside, self._git.tracked_though_ignored(tree, self._ignore_options))}
        except (OSError, GitError):  # the index cannot be read without the repository's configuration
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
                    self._skipped[name] = SkippedFile(str(error), signature(path))
                    continue
                if now is None:  # a folder, or deleted since it was listed
                    if not Path(os.fsdecode(path)).is_dir():
                        self._unknown.add(name)
                    continue
                entries.append(b"%o %b\t%b\0" % (git_mode(now.mode), store.add(now.data).encode(), name))
                self._modes.remember(name, now.mode)
                totals.count(len(now.data), self._limits)
        self._git.update_index(self._tree, b"".join(entries))
        progress(len(names), len(names))

    def _replace_by_commit(self, repository: Repository, commit: str, attributes: Iterable[bytes]) -> None:
        """Make the files of a commit the original ones. Raises `GitError` and `OSError`.

        Files that git converts on checkout, with a filter or by their line ends, are not identical to those
        in the commit. What is on disk counts as their original content.
        """
        git = self._git.with_objects(repository.common_dir / "objects")
        wanted = self._files_of(git, commit)
        known = {
            name: (mode, blob)
            for record in self._git.index_entries(self._index_only)
            for fields, _, name in [record.partition(b"\t")]
            for mode, blob, _stage in [fields.split(b" ")]
        }
        names = [name for name, entry in wanted.items() if known.get(name) != entry]
        converted = converted_files(self._git, repository, self._tree, names, attributes) if names else set()
        entries = [b"0 %b\t%b\0" % (b"0" * 40, name) for name in known.keys() - wanted.keys()]
        changed = [name for name in names if name not in converted and name not in self._skipped]
        with self._git.storing() as store:
            for at in range(0, len(changed), _NAMES_PER_COMMAND):
                some = changed[at : at + _NAMES_PER_COMMAND]
                contents = git.blobs({wanted[name][1].decode() for name in some})
                copies = self._git.blobs({known[name][1].decode() for name in some if name in known})
                for name in some:
                    mode, blob = wanted[name]
                    data = contents.get(blob.decode())
                    now = copies.get(known[name][1].decode()) if name in known else None
                    if data is None or len(data) > self._limits.file_size:
                        self._skipped[name] = SkippedFile(_NOT_FROM_COMMIT, None)
                        entries.append(b"0 %b\t%b\0" % (b"0" * 40, name))
                    elif now is None or known[name][0] != mode or not _same_lines(now, data):
                        store.add(data)
                        self._modes.forget(name)
                        entries.append(b"%b %b\t%b\0" % (mode, blob, name))
        self._git.update_index(self._tree, b"".join(entries))

    def _files_of(self, git: PrivateGit, commit: str) -> dict[bytes, tuple[bytes, bytes]]:
        """Return the mode and the blob of each file and link that a commit has in the folder."""
        below = self._below_top()
        found: dict[bytes, tuple[bytes, bytes]] = {}
        for record in git.files_of_commit(commit):
            fields, _, name = record.partition(b"\t")
            mode, kind, blob = fields.split(b" ")
            if kind == b"blob" and is_inside(name) and name.startswith(below):
                found[name] = (mode, blob)
                if len(found) > self._limits.files:
                    raise GitError(f"it has more than {self._limits.files} files")
        return found

    # ---- saving

    def to_json(self) -> dict[str, Any]:
        """Return what is known beside the copies, as a value that can be saved."""
        return {
            "root": str(self.root),
            "number": self._number,
            "top": str(self._top),
            "unknown": [os.fsdecode(name) for name in sorted(self._unknown)],
            "skipped": {
                os.fsdecode(name): [skipped.why, skipped.signature] for name, skipped in self._skipped.items()
            },
            "began": self._began,
            "modes": self._modes.to_json(),
        }

    @classmethod
    def from_json(
        cls, value: Any, git: PrivateGit, limits: Limits, exclude: Iterable[Path]
    ) -> FolderSnapshot:
        """Return a saved snapshot, whose copies are in `git`. Raises one of `saved_state.DAMAGE`."""
        snapshot = cls(
            git, Path(value["root"]), int(value["number"]), limits, exclude, top=Path(value["top"])
        )
        if not snapshot._index.is_file():
            raise ValueError("an index is missing")
        snapshot._unknown = {os.fsencode(name) for name in value["unknown"]}
        snapshot._skipped = {
            os.fsencode(name): SkippedFile(str(why), signature_from_json(seen))
            for name, (why, seen) in value["skipped"].items()
        }
        snapshot._began = float(value["began"])
        snapshot._modes = FileModes.from_json(value["modes"])
        return snapshot

    # ---- the original state

    def covers(self, path: Path) -> bool:
        """Return True if `path` is the snapshot's folder or below it."""
        return path.is_relative_to(self.root)

    def original(self, path: Path) -> FileState | None:
        """Return the original state of a path.

        None if the path was ignored or excluded, is in a `.git`, or could not be listed.
        """
        return self.originals([path])[path]

    def originals(self, paths: Sequence[Path]) -> dict[Path, FileState | None]:
        """Return the original states of many paths, each as `original` returns it."""
        names = {path: os.fsencode(path.relative_to(self._top)) for path in paths}
        copied = self._copied(list(names.values()))
        return {path: copied.get(name) or self._not_copied(name) for path, name in names.items()}

    def _copied(self, names: Sequence[bytes]) -> dict[bytes, FileState]:
        found: dict[bytes, FileState] = {}
        wanted = set(names)
        for at in range(0, len(names), _NAMES_PER_COMMAND):
            for record in self._git.index_entries(self._index_only, names[at : at + _NAMES_PER_COMMAND]):
                fields, _, name = record.partition(b"\t")
                if name in wanted:  # a pattern also matches the files below a folder
                    mode, blob, _stage = fields.decode().split()
                    full_mode = self._modes.full_mode(name, int(mode, 8))
                    found[name] = FileState(existed=True, blob=blob, mode=full_mode)
        return found

    def _not_copied(self, name: bytes) -> FileState | None:
        if name in self._skipped:
            return FileState(existed=True, revert_obstacle=self._skipped[name].why)
        return None if self._was_unknown(name) else FileState(existed=False)

    def _was_unknown(self, name: bytes) -> bool:
        if name in self._unknown or WHOLE_FOLDER in self._unknown or GIT_DIRECTORY in name.split(b"/"):
            return True
        return any(name[: end + 1] in self._unknown for end, byte in enumerate(name) if byte == 0x2F)

    # ---- changes

    def changes(self) -> Iterator[FileChange]:
        """Yield the changes of files in the folder, but not of ignored or excluded files without a copy."""
        if not self.root.is_dir():
            yield from self._all_deleted()
            return
        self._special, _ = find_control_files(
            os.fsencode(self._top), self._below_top(), skipped_paths=self._unknown
        )
        refreshed = ATTRIBUTES_FILE not in self._special
        if refreshed:  # update the timestamps of unchanged files in the index
            self._git.refresh_index(self._tree)
        else:
            self._forget_timestamps()
        records = self._git.changed_entries(self._tree)
        for fields in records:
            old_mode, new_mode, blob, _new, status = fields.decode().removeprefix(":").split()
            path = self._path(next(records))
            kind: ChangeKind = "deleted" if status == "D" else "modified"
            if status == "M" and (old_mode != new_mode or not refreshed) and self._current_blob(path) == blob:
                if old_mode == new_mode:
                    continue
                kind = "mode"
            yield FileChange(path, kind)
        yield from self._added()
        for name, skipped in self._skipped.items():
            now = signature(self._bytes_path(name))
            if now != skipped.signature:
                yield FileChange(self._path(name), "modified" if now else "deleted", skipped.why)

    def _forget_timestamps(self) -> None:
        """Make git list all files as changed, without comparing their contents.

        To compare contents, git would open `.gitattributes`, and block if `.gitattributes` is a pipe.
        """
        entries = b"".join(entry + b"\0" for entry in self._git.index_entries(self._index_only))
        self._git.update_index(self._index_only, entries)

    def _all_deleted(self) -> Iterator[FileChange]:
        for name in self._git.tracked(self._index_only):
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
        older = self._older_without_copy(paths)
        for path in paths:
            yield FileChange(path, "added", _UNKNOWN if path in older else None)

    def _nested(self, top: Path) -> Iterator[Path]:
        """Yield the files of the nested repository whose folder is `top`."""
        tree = GitWorkTree(top, top, self._git.directory / "none")
        for name in self._git.untracked(tree, self._ignore_options):
            path = top / os.fsdecode(name)
            if name.endswith(b"/"):
                yield from self._nested(path)
            else:
                yield path

    def removal_obstacle(self, path: Path) -> str | None:
        """Return why a file that seems new must not be deleted; None if deleting it is safe."""
        return _UNKNOWN if self._older_without_copy([path]) else None

    def _older_without_copy(self, paths: Iterable[Path]) -> set[Path]:
        """Of the files that seem new, return those that are older than the snapshot and have no copy.

        Such files were moved here, or the snapshot could not list them. The age is taken from the ctime,
        because no program can set the ctime back.
        """
        older = {path: self._current_blob(path) or "" for path in paths if self._changed_since(path) is False}
        copies = self._git.present([blob for blob in older.values() if blob])
        return {path for path, blob in older.items() if blob not in copies}

    def _changed_since(self, path: Path) -> bool | None:
        """Return whether the file was created or changed after the snapshot; None if there is no file."""
        try:
            return path.lstat().st_ctime >= self._began
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _current_blob(self, path: Path) -> str | None:
        """Return git's name for the current content of a file; None if the file cannot be copied."""
        try:
            now = read_content(bytes(path), self._limits.file_size)
        except NotCopiedError:
            return None
        return blob_name(now.data) if now else None

    def _below_top(self) -> bytes:
        """Return the root's path below `self._top`, with a slash at the end; empty if the root is the top."""
        return b"" if self.root == self._top else os.fsencode(self.root.relative_to(self._top)) + b"/"

    def _path(self, name: bytes) -> Path:
        return self._top / os.fsdecode(name)

    def _bytes_path(self, name: bytes) -> bytes:
        return os.path.join(os.fsencode(self._top), name)  # noqa: PTH118 - names need not be UTF-8; hot


def _copy(source: Path, target: Path) -> None:
    with (
        open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as old,
        open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as new,
    ):
        shutil.copyfileobj(old, new)


def _same_lines(one: bytes, other: bytes) -> bool:
    """Return True if two contents differ at most in their line ends."""
    return one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def _escape_pattern(name: str) -> str:
    """Return an ignore pattern that matches only `name`."""
    return "".join(f"\\{character}" if character in "\\*?[ " else character for character in name)

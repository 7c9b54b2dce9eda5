"""A snapshot of the workspace at session start, for listing and reverting changes.

The snapshot is compared with the disk, so changes to its files are found, however they were made. Files
outside the snapshot (such as ignored files) are copied when the agent announces that it will change them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths as own_paths
from acp_tui.errors import UserError
from acp_tui.workspace.baseline.file_change import (
    UNKNOWN_STATE,
    FileChange,
    FileState,
    LimitExceededError,
    Limits,
    NotCopiedError,
    Totals,
    read_content,
    signature,
)
from acp_tui.workspace.baseline.folder_snapshot import FolderSnapshot, WorktreeBase
from acp_tui.workspace.baseline.restore import remove, restore
from acp_tui.workspace.baseline.saved_state import (
    DAMAGE,
    Checkpoint,
    CheckpointCopies,
    SavedState,
    copy_baseline,
    signature_from_json,
    state_from_json,
    state_to_json,
)
from acp_tui.workspace.files.atomic_write import UnwritableError, remove_unfinished_writes
from acp_tui.workspace.files.open_folder import Roots, describe
from acp_tui.workspace.git.git_commands import GitError, PrivateGit

if TYPE_CHECKING:
    from acp_tui.processes.reaper import Reaper

_TOO_LATE = "it was changed before acp-tui could copy it"
_MAX_REPOSITORIES = 200
_VERSION = 1
_SNAPSHOT, _ANNOUNCED = "snapshot", "announced"  # names in `SavedState`


@dataclass(frozen=True, slots=True)
class _AnnouncedFile:
    """A file that the snapshot does not contain, as it was when a change of the file was reported."""

    original: FileState
    signature: tuple[int, ...] | None  # at that time


class Baseline:
    """The state that the workspace's folders (`roots`) had when `take_snapshot` ran.

    The copies of their files are in `directory`, which must not contain anything else.
    """

    def __init__(
        self,
        roots: Roots,
        directory: Path,
        limits: Limits | None = None,
        reaper: Reaper | None = None,
        worktree: WorktreeBase | None = None,
    ) -> None:
        """If a root is in `worktree`, the original state of the files is that of the worktree's commit."""
        self.notices: list[str] = []
        """Sentences for the user about files that are not in the snapshot."""
        self._complete = True
        self.seconds = 0.0
        """The duration of `take_snapshot`."""
        self.totals = Totals()
        """The number and total size of the copied files."""
        self._roots = roots
        self._directory = directory
        self._worktree = worktree
        self.state = SavedState(directory)
        """What is saved beside the copies. `take_snapshot` deletes it, `resume` reads it."""
        self._reaper = reaper
        self._limits = limits or Limits()
        self._git: PrivateGit | None = None
        self._why_no_git = "there is no snapshot"
        self._numbers = count()
        self._snapshots: list[FolderSnapshot] = []  # the innermost first
        self._saved_roots: list[Path] = []
        self._announced: dict[Path, _AnnouncedFile] = {}
        self._copies: CheckpointCopies | None = None
        self._lock = threading.Lock()  # the index files allow only one thread at a time
        self._begun = threading.Event()
        """Set when the thread that takes or reads the snapshot has the lock: git cannot be used before."""

    async def take_snapshot(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Delete what is in `directory`, and copy the roots into it. Must be called only once.

        `progress` is called with two numbers for the folder being copied: the files copied so far, and all
        files to copy. If a root cannot be copied, a notice is added. Except `content` and
        `contents`, the methods that use the copies wait for the snapshot.
        """
        loop = asyncio.get_running_loop()

        def report(done: int, total: int) -> None:
            if progress is not None:
                with suppress(RuntimeError):  # the event loop was closed meanwhile
                    loop.call_soon_threadsafe(progress, done, total)

        git = self._git = PrivateGit(self._directory, self._reaper, seconds=self._limits.git_seconds)
        try:
            await asyncio.to_thread(self._take_snapshot, git, report)
        except asyncio.CancelledError:
            git.stop()
            self._begun.set()
            raise

    async def resume(self, copy_of: Path | None = None) -> bool:
        """Use the snapshot that an earlier acp-tui has taken, instead of taking one.

        Folders that are not in the snapshot are copied now. With `copy_of`, the directory of another
        baseline, use a copy of its snapshot. Return False if there is no usable snapshot.
        """
        git = self._git = PrivateGit(self._directory, self._reaper, seconds=self._limits.git_seconds)
        try:
            return await asyncio.to_thread(self._resume, git, copy_of)
        except asyncio.CancelledError:
            git.stop()
            self._begun.set()
            raise

    @property
    def complete(self) -> bool:
        """Whether all roots could be copied.

        If this is False, some changes in the roots are found only if the agent announces them; `notices` says
        why.
        """
        return self._complete

    async def copy_before_change(self, paths: Iterable[Path | str]) -> None:
        """Copy files that are about to change, unless the snapshot contains them."""
        await asyncio.to_thread(self._announce, list(paths), changed=False)

    async def mark_changed(self, paths: Iterable[Path | str]) -> None:
        """Record that files have changed, so that `changes` lists them even if they were never copied."""
        await asyncio.to_thread(self._announce, list(paths), changed=True)

    async def changes(self) -> list[FileChange]:
        """Return the changes found since the snapshot, sorted by path. Raises `UserError`."""
        return await asyncio.to_thread(self._changes)

    async def original_content(self, path: Path) -> bytes | None:
        """Return a file's original content (for a link: its target); None if unknown or there was no file."""
        return await asyncio.to_thread(self._original_content, path)

    @property
    def checkpoint_size(self) -> int:
        """The size of the copies that only checkpoints need, in bytes."""
        return self._copies.size if self._copies is not None else 0

    async def checkpoint(self) -> Checkpoint:
        """Copy the changed files if possible, to allow restoring their current state. Raises `UserError`."""
        return await asyncio.to_thread(self._checkpoint)

    async def states_at(self, checkpoint: Checkpoint | None, paths: Iterable[Path]) -> dict[Path, FileState]:
        """Return the states of paths at a checkpoint (None: when the session began). Raises `UserError`."""
        try:
            return await asyncio.to_thread(self._states_at, checkpoint, list(paths))
        except GitError as error:
            raise UserError(f"The copies of the files cannot be read: {error}.") from None

    async def content(self, state: FileState) -> bytes | None:
        """Return the content of a file in a state (for a link: its target); None if there is no copy."""
        return await asyncio.to_thread(self._content, state)

    async def contents(self, blobs: Collection[str]) -> dict[str, bytes]:
        """Return the contents of blobs by blob name (see `FileState.blob`). Unreadable blobs are left out."""
        return await asyncio.to_thread(self._contents, blobs)

    async def keep_only(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Delete copies for checkpoints, except those that `checkpoints` or the latest checkpoint need."""
        await asyncio.to_thread(self._keep_only, list(checkpoints))

    async def revert(self, path: Path) -> None:
        """Restore the content and mode that one file had when the session began. Raises `UserError`."""
        await self.restore(path, None)

    async def restore(self, path: Path, checkpoint: Checkpoint | None) -> None:
        """Restore one file as it was at a checkpoint; None stands for the beginning of the session.

        Raises `UserError`.
        """
        await asyncio.to_thread(self._restore_at, path, checkpoint)

    @property
    def latest(self) -> Checkpoint:
        """The latest checkpoint; if there is none, the state when the session began."""
        return self._copies.last if self._copies is not None else Checkpoint({}, {})

    @property
    def copy_sizes(self) -> dict[str, int]:
        """The sizes of the copies that only checkpoints need, by blob."""
        return self._copies.sizes if self._copies is not None else {}

    def resume_checkpoints(self, latest: Checkpoint, sizes: Mapping[str, int]) -> None:
        """Continue with the copies of checkpoints that an earlier acp-tui has made."""
        if self._copies is not None:
            self._copies.resume(latest, sizes)

    def stop(self) -> None:
        """Stop git. The copies stay, so that the session can be resumed."""
        if self._git is not None:
            self._git.stop()

    async def delete(self) -> None:
        """Stop git and delete the copies. Nothing can be reverted afterwards."""
        if self._git is not None:
            self._git.stop()
        await asyncio.to_thread(self._delete)

    # ---- everything below blocks

    def _take_snapshot(self, git: PrivateGit, report: Callable[[int, int], None]) -> None:
        with self._lock:
            self._begun.set()
            remove_unfinished_writes()
            began = time.monotonic()
            self._snapshots, self._saved_roots = [], []
            self._copy_roots(git, report)
            self._sort_snapshots()
            self.seconds = time.monotonic() - began

            self._save()

    def _save(self) -> None:
        """Save the snapshot. Called after the copies were stored: without this file, they do not count."""
        if self._git is not None:
            self.state.write(
                _SNAPSHOT,
                {
                    "version": _VERSION,
                    "commit": self._worktree.commit if self._worktree is not None else None,
                    "complete": self._complete,
                    "roots": [str(root) for root in self._saved_roots],
                    "folders": [snapshot.to_json() for snapshot in self._snapshots],
                },
            )

    def _resume(self, git: PrivateGit, copy_of: Path | None) -> bool:
        with self._lock, suppress(GitError, OSError, *DAMAGE):
            self._begun.set()
            remove_unfinished_writes()
            if copy_of is not None:
                copy_baseline(copy_of, self._directory)
            saved = self.state.read(_SNAPSHOT)
            commit = self._worktree.commit if self._worktree is not None else None
            if saved is None or saved["version"] != _VERSION or saved["commit"] != commit:
                return False
            git.open()
            exclude = self._excluded_folders()
            snapshots = [
                FolderSnapshot.from_json(one, git, self._limits, exclude) for one in saved["folders"]
            ]
            for line in self.state.read_list(_ANNOUNCED):
                path, state, seen = line
                self._announced[Path(path)] = _AnnouncedFile(
                    state_from_json(state), signature_from_json(seen)
                )
            self._saved_roots = [Path(root) for root in saved["roots"]]
            self._complete = bool(saved["complete"])
            self._snapshots = snapshots
            self._copies = CheckpointCopies(git, self._limits.file_size)
            self._numbers = count(1 + max((int(one["number"]) for one in saved["folders"]), default=-1))
            if added := [root for root in self._roots.directories if root not in self._saved_roots]:
                self._copy_folders(git, added, lambda _done, _all: None)
                self._sort_snapshots()
                self._save()
            return True
        self._announced = {}
        return False

    def _sort_snapshots(self) -> None:
        self._snapshots.sort(key=lambda snapshot: len(snapshot.root.parts), reverse=True)

    def _excluded_folders(self) -> list[Path]:
        own = own_paths()
        return [*self._roots.directories, self._directory, own.config, own.data, own.state, own.cache]

    def _copy_roots(self, git: PrivateGit, report: Callable[[int, int], None]) -> None:
        try:
            git.create()
            self._copies = CheckpointCopies(git, self._limits.file_size)
        except (GitError, OSError) as error:
            self._git = None
            self._why_no_git = _reason(error)
            what = "Changes cannot be reverted, and only files that the agent reports are listed"
            self.notices.append(f"{what}: {self._why_no_git}.")
            self._complete = False
            return
        self._copy_folders(git, self._roots.directories, report)

    def _copy_folders(
        self, git: PrivateGit, roots: Iterable[Path], report: Callable[[int, int], None]
    ) -> None:
        exclude = self._excluded_folders()
        for root in roots:
            self._saved_roots.append(root)
            before = replace(self.totals)
            try:
                self._snapshots += self._copy_root(git, root, exclude, report)
            except (GitError, LimitExceededError, OSError) as error:
                self.totals = before
                git.tidy()
                if isinstance(error, LimitExceededError):
                    what = f"{root} is too large to snapshot ({error})"
                else:
                    what = f"{root} could not be copied ({_reason(error)})"
                self.notices.append(f"{what}; only files that the agent reports can be reverted.")
                self._complete = False

    def _copy_root(
        self, git: PrivateGit, root: Path, exclude: list[Path], report: Callable[[int, int], None]
    ) -> list[FolderSnapshot]:
        """Take the snapshots of one root and of all repositories in it that are not ignored or excluded."""
        taken: list[FolderSnapshot] = []
        folders = [root]
        while folders:
            snapshot = FolderSnapshot(git, folders.pop(), next(self._numbers), self._limits, exclude)
            folders += snapshot.take(self.totals, report, self._worktree)
            taken.append(snapshot)
            if snapshot.base_problem is not None:
                self.notices.append(
                    f"The worktree cannot be compared with the commit it was created from "
                    f"({snapshot.base_problem}); changes are listed from now on."
                )
            if snapshot.uncopied:
                files = f"{snapshot.uncopied:,} untracked files in {snapshot.root}"
                self.notices.append(
                    f"{files} are not in the snapshot, because there are too many; "
                    "changes to them cannot be reverted."
                )
            if len(taken) + len(folders) > _MAX_REPOSITORIES:
                raise LimitExceededError(f"more than {_MAX_REPOSITORIES} repositories")
        return taken

    def _snapshot_of(self, path: Path) -> FolderSnapshot | None:
        return next((snapshot for snapshot in self._snapshots if snapshot.covers(path)), None)

    def _original(self, path: Path) -> FileState | None:
        """Return the original state of a path; None if the state is unknown."""
        snapshot = self._snapshot_of(path)
        original = snapshot.original(path) if snapshot else None
        if original is None and path in self._announced:
            return self._announced[path].original
        return original

    def _announce(self, paths: list[Path | str], *, changed: bool) -> None:
        if self._git is not None:
            self._begun.wait()
        with self._lock:
            for path in filter(None, map(_real, paths)):
                if path not in self._announced and not path.is_dir():
                    self._announce_one(path, changed=changed)

    def _announce_one(self, path: Path, *, changed: bool) -> None:
        try:
            snapshot = self._snapshot_of(path)
            original = snapshot.original(path) if snapshot else None
            if original is None and changed:
                original = FileState(existed=True, revert_obstacle=_TOO_LATE)
            elif original is None:
                original = self._copy(path)
            elif original.existed:
                return
            # Else the file is new. It must be remembered, because git does not list it if it is ignored.
        except GitError as error:
            original = FileState(existed=True, revert_obstacle=str(error))
        announced = self._announced[path] = _AnnouncedFile(original, signature(bytes(path)))
        if self._git is not None:
            self.state.append(_ANNOUNCED, [[str(path), state_to_json(original), announced.signature]])

    def _copy(self, path: Path) -> FileState:
        try:
            now = read_content(bytes(path), self._limits.file_size)
            if now is None:
                return FileState(existed=False)
            if self._git is None:
                return FileState(existed=True, revert_obstacle=self._why_no_git)
            with self._git.storing() as store:
                return FileState(existed=True, blob=store.add(now.data), mode=now.mode)
        except (NotCopiedError, GitError) as error:
            return FileState(existed=True, revert_obstacle=str(error))

    def _changes(self) -> list[FileChange]:
        with self._lock:
            found: dict[Path, FileChange] = {}
            try:
                for snapshot in self._snapshots:
                    for change in snapshot.changes():
                        if self._snapshot_of(change.path) is snapshot:
                            found[change.path] = change
            except GitError as error:
                raise UserError(f"The changes cannot be listed: {error}.") from None
            for path, announced in self._announced.items():
                if path in found and found[path].kind != "unknown":
                    continue
                found.pop(path, None)
                if announced_change := self._announced_change(path, announced):
                    found[path] = announced_change
            return [found[path] for path in sorted(found)]

    def _announced_change(self, path: Path, announced: _AnnouncedFile) -> FileChange | None:
        original, now = announced.original, signature(bytes(path))
        if not original.existed:
            return FileChange(path, "added", self._removal_obstacle(path)) if now else None
        if original.revert_obstacle is not None:
            if now == announced.signature and original.revert_obstacle != _TOO_LATE:
                return None
            return FileChange(path, "modified" if now else "deleted", original.revert_obstacle)
        if now == announced.signature:
            return None
        try:
            current = read_content(bytes(path), self._limits.file_size)
        except NotCopiedError:
            return FileChange(path, "modified")
        if current is None:
            return FileChange(path, "deleted")
        if self._git is None or current.data != self._git.blob(original.blob or ""):
            return FileChange(path, "modified")
        return FileChange(path, "mode") if current.mode != original.mode else None

    def _original_content(self, path: Path) -> bytes | None:
        with self._lock:
            return self._content(self._original(path) or UNKNOWN_STATE)

    def _content(self, state: FileState) -> bytes | None:
        return None if state.blob is None or self._git is None else self._git.blob(state.blob)

    def _contents(self, blobs: Collection[str]) -> dict[str, bytes]:
        try:
            return self._git.blobs(blobs) if self._git is not None else {}
        except GitError:
            return {}

    def _checkpoint(self) -> Checkpoint:
        changes = self._changes()
        with self._lock:
            if self._copies is None:
                return Checkpoint({}, {})
            try:
                return self._copies.copy([change.path for change in changes])
            except (GitError, OSError) as error:
                raise UserError(f"The changed files cannot be copied: {_reason(error)}.") from None

    def _states_at(self, checkpoint: Checkpoint | None, paths: Sequence[Path]) -> dict[Path, FileState]:
        states = {path: checkpoint.files[path] for path in paths if checkpoint and path in checkpoint.files}
        by_snapshot: dict[FolderSnapshot | None, list[Path]] = {}
        with self._lock:
            for path in paths:
                if path not in states:
                    by_snapshot.setdefault(self._snapshot_of(path), []).append(path)
            for snapshot, covered in by_snapshot.items():
                originals = snapshot.originals(covered) if snapshot else {}
                for path in covered:
                    announced = self._announced.get(path)
                    original = originals.get(path) or (announced.original if announced else None)
                    states[path] = original or UNKNOWN_STATE
        return states

    def _keep_only(self, checkpoints: Sequence[Checkpoint]) -> None:
        with self._lock:
            if self._copies is not None:
                announced = {announced.original.blob for announced in self._announced.values()}
                self._copies.keep_only(checkpoints, announced)

    def _restore_at(self, path: Path, checkpoint: Checkpoint | None) -> None:
        with _named_errors(path):
            state = self._states_at(checkpoint, [path])[path]
            with self._lock:
                self._restore(path, state)

    def _restore(self, path: Path, state: FileState) -> None:
        if state.revert_obstacle is not None:
            raise UnwritableError(state.revert_obstacle)
        if state.existed:
            if self._git is None or state.blob is None:
                raise UnwritableError(self._why_no_git)
            restore(path, self._git.blob(state.blob), state.mode)
            return
        if obstacle := self._removal_obstacle(path):
            raise UnwritableError(obstacle)
        remove(path)

    def _removal_obstacle(self, path: Path) -> str | None:
        snapshot = self._snapshot_of(path)
        return snapshot.removal_obstacle(path) if snapshot else None

    def _delete(self) -> None:
        with self._lock:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._git, self._why_no_git = None, "acp-tui's copies of the files have been deleted"
            self._snapshots = []
            self._announced = {}
            self._copies = None


def _real(path: Path | str) -> Path | None:
    """Return the path with links resolved; None if the path is relative or invalid."""
    try:
        return Path(os.path.realpath(path)) if Path(path).is_absolute() else None
    except (OSError, ValueError):
        return None


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Turn errors in the `with` block into a `UserError` that names the file."""
    try:
        yield
    except (UnwritableError, GitError) as error:
        raise UserError(f"{path} cannot be reverted: {error}.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be reverted: {describe(error)}.") from None


def _reason(error: Exception) -> str:
    return describe(error) if isinstance(error, OSError) else str(error)

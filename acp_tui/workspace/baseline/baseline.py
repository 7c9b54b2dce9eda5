"""Snapshot of the workspace at session start, for listing and reverting changes.

The snapshot is compared with the disk, so every change is found, however it was made. Files outside the
snapshot (ignored, or outside the roots) are copied when the agent announces them, before they change.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths as own_paths
from acp_tui.errors import UserError
from acp_tui.workspace.baseline.changes import FileChange, OriginalState
from acp_tui.workspace.baseline.private_git import GitError, PrivateGit
from acp_tui.workspace.baseline.restore import remove, restore
from acp_tui.workspace.baseline.snapshot import NotCopiedError, read_content, signature
from acp_tui.workspace.baseline.work_tree import LimitExceededError, Limits, Totals, WorkTree
from acp_tui.workspace.files.errors import describe
from acp_tui.workspace.files.location import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.processes import Reaper
    from acp_tui.workspace.files.roots import Roots

_TOO_LATE = "it was changed before acp-tui could copy it"
_MAX_REPOSITORIES = 200


@dataclass(frozen=True, slots=True)
class _KeptFile:
    """A path outside the baseline, as it was when it was named."""

    old: OriginalState
    signature: tuple[int, ...] | None  # at that time


class Baseline:
    """The state of the roots at the moment of `take`, kept in `directory`, which is ours alone."""

    def __init__(
        self, roots: Roots, directory: Path, limits: Limits | None = None, reaper: Reaper | None = None
    ) -> None:
        self.notices: list[str] = []
        """What is not in the snapshot, as sentences for the user."""
        self.seconds = 0.0
        """Duration of `take`."""
        self.totals = Totals()
        """Number and size of the copied files."""
        self._roots = roots
        self._directory = directory
        self._reaper = reaper
        self._limits = limits or Limits()
        self._git: PrivateGit | None = None
        self._why_no_git = "there is no snapshot"
        self._numbers = count()
        self._areas: list[WorkTree] = []  # the innermost first
        self._kept: dict[Path, _KeptFile] = {}
        self._lock = threading.Lock()  # one at a time works on the index files

    async def take(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Take the snapshot, once. The previous content of the directory is deleted.

        `progress` gets the copied and the total number of files of one folder. A root that cannot be
        snapshotted adds a notice. All other calls wait until this is done.
        """
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            if progress is not None:
                with suppress(RuntimeError):  # the loop is gone, nobody waits any more
                    loop.call_soon_threadsafe(progress, done, total)

        git = self._git = PrivateGit(self._directory, self._reaper, seconds=self._limits.git_seconds)
        try:
            await asyncio.to_thread(self._take, git, tell)
        except asyncio.CancelledError:
            git.stop()
            raise

    @property
    def complete(self) -> bool:
        """False when some changes can only be found if the agent announces them; `notices` says why."""
        return not self.notices

    async def keep(self, paths: Iterable[Path | str]) -> None:
        """Copy those of these files that are not in the snapshot, before they change."""
        await asyncio.to_thread(self._keep, list(paths), too_late=False)

    async def note(self, paths: Iterable[Path | str]) -> None:
        """List these files as changed, even if they were never copied."""
        await asyncio.to_thread(self._keep, list(paths), too_late=True)

    async def changes(self) -> list[FileChange]:
        """Return all changes since the snapshot, sorted by path."""
        return await asyncio.to_thread(self._changes)

    async def old_content(self, path: Path) -> bytes | None:
        """Return the original content (for a link: its target); None if absent or unknown."""
        return await asyncio.to_thread(self._old_content, path)

    async def revert(self, path: Path) -> None:
        """Restore the content and mode of one file. Raises `UserError`."""
        await asyncio.to_thread(self._revert, path)

    async def forget(self) -> None:
        """Stop git and delete the copies. Nothing can be reverted afterwards."""
        if self._git is not None:
            self._git.stop()
        await asyncio.to_thread(self._forget)

    # ---- everything below blocks

    def _take(self, git: PrivateGit, tell: Callable[[int, int], None]) -> None:
        with self._lock:
            began = time.monotonic()
            self._take_all(git, tell)
            self._areas.sort(key=lambda area: len(area.root.parts), reverse=True)
            self.seconds = time.monotonic() - began

    def _take_all(self, git: PrivateGit, tell: Callable[[int, int], None]) -> None:
        try:
            git.create()
        except (GitError, OSError) as error:
            self._git = None
            self._why_no_git = _words(error)
            what = "Changes cannot be reverted, and only files the agent announces are listed"
            self.notices.append(f"{what}: {self._why_no_git}.")
            return
        own = own_paths()
        without = [*self._roots.directories, self._directory, own.config, own.data, own.state, own.cache]
        for root in self._roots.directories:
            before = replace(self.totals)
            try:
                self._areas += self._take_root(git, root, without, tell)
            except (GitError, LimitExceededError, OSError) as error:
                self.totals = before
                git.tidy()
                if isinstance(error, LimitExceededError):
                    what = f"{root} is too large to snapshot ({error})"
                else:
                    what = f"{root} could not be snapshotted ({_words(error)})"
                self.notices.append(f"{what}; only files the agent announces can be reverted.")

    def _take_root(
        self, git: PrivateGit, root: Path, without: list[Path], tell: Callable[[int, int], None]
    ) -> list[WorkTree]:
        """The areas of one root: itself, and every repository nested inside."""
        found: list[WorkTree] = []
        waiting = [root]
        while waiting:
            area = WorkTree(git, waiting.pop(), next(self._numbers), self._limits, without)
            waiting += area.take(self.totals, tell)
            found.append(area)
            if len(found) + len(waiting) > _MAX_REPOSITORIES:
                raise LimitExceededError(f"more than {_MAX_REPOSITORIES} repositories")
        return found

    def _area_of(self, path: Path) -> WorkTree | None:
        return next((area for area in self._areas if area.covers(path)), None)

    def _old(self, path: Path) -> OriginalState | None:
        """Return the original state of a path; None if it is unknown."""
        area = self._area_of(path)
        old = area.old(path) if area else None
        if old is None and path in self._kept:
            return self._kept[path].old
        return old

    def _keep(self, paths: list[Path | str], *, too_late: bool) -> None:
        with self._lock:
            for path in filter(None, map(_real, paths)):
                if path not in self._kept and not path.is_dir():
                    self._keep_one(path, too_late=too_late)

    def _keep_one(self, path: Path, *, too_late: bool) -> None:
        try:
            area = self._area_of(path)
            old = area.old(path) if area else None
            if old is None:
                old = OriginalState(existed=True, revert_obstacle=_TOO_LATE) if too_late else self._copy(path)
            elif old.existed:
                return
            # Else it is new, and possibly ignored now: only its name leads to it.
        except GitError as error:
            old = OriginalState(existed=True, revert_obstacle=str(error))
        self._kept[path] = _KeptFile(old, signature(bytes(path)))

    def _copy(self, path: Path) -> OriginalState:
        try:
            now = read_content(bytes(path), self._limits.file_size)
            if now is None:
                return OriginalState(existed=False)
            if self._git is None:
                return OriginalState(existed=True, revert_obstacle=self._why_no_git)
            with self._git.storing() as store:
                return OriginalState(existed=True, blob=store.add(now.data), mode=now.mode)
        except (NotCopiedError, GitError) as error:
            return OriginalState(existed=True, revert_obstacle=str(error))

    def _changes(self) -> list[FileChange]:
        with self._lock:
            found: dict[Path, FileChange] = {}
            try:
                for area in self._areas:
                    for change in area.changes():
                        if self._area_of(change.path) is area:
                            found[change.path] = change
            except GitError as error:
                raise UserError(f"The changes cannot be listed: {error}.") from None
            for path, kept in self._kept.items():
                if path in found and found[path].kind != "unknown":
                    continue
                found.pop(path, None)
                if late := self._kept_change(path, kept):
                    found[path] = late
            return [found[path] for path in sorted(found)]

    def _kept_change(self, path: Path, kept: _KeptFile) -> FileChange | None:
        now = signature(bytes(path))
        if not kept.old.existed:
            return FileChange(path, "added", self._why_not_remove(path)) if now else None
        if kept.old.revert_obstacle is not None:
            if now == kept.signature and kept.old.revert_obstacle != _TOO_LATE:
                return None
            return FileChange(path, "modified" if now else "deleted", kept.old.revert_obstacle)
        if now == kept.signature:
            return None
        try:
            current = read_content(bytes(path), self._limits.file_size)
        except NotCopiedError:
            return FileChange(path, "modified")
        if current is None:
            return FileChange(path, "deleted")
        if self._git is None or current.data != self._git.blob(kept.old.blob or ""):
            return FileChange(path, "modified")
        return FileChange(path, "mode") if current.mode != kept.old.mode else None

    def _old_content(self, path: Path) -> bytes | None:
        with self._lock:
            old = self._old(path)
            return None if old is None or old.blob is None or self._git is None else self._git.blob(old.blob)

    def _revert(self, path: Path) -> None:
        with self._lock:
            try:
                self._put_back(path)
            except (UnwritableError, GitError) as error:
                raise UserError(f"{path} cannot be reverted: {error}.") from None
            except OSError as error:
                raise UserError(f"{path} cannot be reverted: {describe(error)}.") from None

    def _put_back(self, path: Path) -> None:
        old = self._old(path)
        if old is None:
            raise UnwritableError("it is not part of the snapshot")
        if old.revert_obstacle is not None:
            raise UnwritableError(old.revert_obstacle)
        if old.existed:
            if self._git is None or old.blob is None:
                raise UnwritableError(self._why_no_git)
            restore(path, self._git.blob(old.blob), old.mode)
            return
        if why_not := self._why_not_remove(path):
            raise UnwritableError(why_not)
        remove(path)

    def _why_not_remove(self, path: Path) -> str | None:
        area = self._area_of(path)
        return area.removal_obstacle(path) if area else None

    def _forget(self) -> None:
        with self._lock:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._git, self._why_no_git = None, "the copies have been deleted"
            self._areas = []
            self._kept = {}


def _real(path: Path | str) -> Path | None:
    """Resolve a path; None if it is relative or invalid."""
    try:
        return Path(os.path.realpath(path)) if Path(path).is_absolute() else None
    except (OSError, ValueError):
        return None


def _words(error: Exception) -> str:
    return describe(error) if isinstance(error, OSError) else str(error)

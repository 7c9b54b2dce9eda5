"""Lists the files of the workspace for file search, without those that git ignores.

Listing a large folder is slow, so the listing runs in a thread. Partial results are available meanwhile.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from acp_tui.processes.reaper import Reaper, ReaperClosedError
from acp_tui.workspace.git.git_commands import GitError, GitWorkTree, PrivateGit
from acp_tui.workspace.git.repository import Repository, find_repository

# Only untracked folders are left out: a project that tracks its `build` folder has sources there.
GENERATED_FOLDERS = (
    *("node_modules", "bower_components", ".venv", "venv", ".tox", ".nox", ".eggs", "*.egg-info", ".pixi"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".direnv", ".cache"),
    *("target", "build", "dist", "out", ".build", "_build", ".gradle", "DerivedData", "Pods", ".terraform"),
    *(".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".dart_tool", ".stack-work"),
    *("dist-newstyle", "elm-stuff", "coverage", ".nyc_output", ".hg", ".svn", ".jj"),
)
"""Names and glob patterns of folders with generated files."""


MAX_AGE_SECONDS = 5.0
"""A listing older than this is refreshed when it is next used."""
MAX_FILES = 250_000
"""Listing stops after this many files and folders. Only home directories and whole disks have more."""
TIME_LIMIT_SECONDS = 20.0
"""Listing stops after this many seconds."""
BATCH_SIZE = 2000
STOP_TIMEOUT_SECONDS = 2.0
"""Seconds that `close` waits for the thread to delete its temporary files."""

_EXCLUDES = ("--exclude-standard", *(f"--exclude={name}/" for name in GENERATED_FOLDERS))
_NOT_ENTERED = frozenset(name for name in GENERATED_FOLDERS if "*" not in name) | {".git"}


class ListedFiles:
    """Paths of files and folders: relative to the working directory, or absolute if below another root.

    While the listing runs, items are added to the lists `bases` and `lower` first, and then to `paths`.
    Existing items never move, so a reader can safely use the first `len(paths)` items of each list.
    """

    def __init__(self) -> None:
        self.bases: list[str] = []
        """The last part of each path, in lower case."""
        self.lower: list[str] = []
        """Each path in lower case."""
        self.paths: list[str] = []
        """All paths. Those of folders end with a slash."""
        self.changed: set[str] = set()
        """Untracked and modified files."""
        self.missing: set[str] = set()
        """Tracked files that do not exist."""
        self.complete = False
        self.truncated = False
        """Whether the listing stopped at a limit."""
        self._known: set[str] = set()

    def add(self, names: Iterable[str]) -> None:
        """Add files together with their parent folders."""
        new: list[str] = []
        for name in names:
            if name in self._known:
                continue
            self._known.add(name)
            new.append(name)
            at = name.rfind("/", 0, -1)
            while at > 0 and (folder := name[: at + 1]) not in self._known:
                self._known.add(folder)
                new.append(folder)
                at = name.rfind("/", 0, at)
        lower = [name.lower() for name in new]
        self.bases += [name[name.rfind("/", 0, -1) + 1 :] for name in lower]
        self.lower += lower
        self.paths += new


class FileListing:
    """The listing of the files below `folders`, made when it is needed.

    The first of `folders` must be the working directory.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        clock: Callable[[], float] = time.monotonic,
        reaper: Reaper,
    ) -> None:
        self._folders = list(folders)
        self._reaper = reaper
        self._clock = clock
        self._found: ListedFiles | None = None
        self._ended = 0.0
        self._run: _ListingRun | None = None

    def current(self) -> ListedFiles:
        """Return the latest complete listing. Until the first listing ends, return the files found so far.

        If the latest listing is too old, or if there is no listing, a new listing starts in the background,
        unless one is running.
        """
        if self._run is not None and not self._run.running:
            self._found, self._ended, self._run = self._run.found, self._run.ended, None
        fresh = self._found is not None and self._clock() - self._ended < MAX_AGE_SECONDS
        if self._run is None and not fresh:
            self._run = _ListingRun(self._folders, self._clock, self._reaper)
        if self._found is None:
            assert self._run is not None
            return self._run.found
        return self._found

    def close(self) -> None:
        """Stop listing. Blocks for up to `STOP_TIMEOUT_SECONDS`."""
        if self._run is not None:
            self._run.stop()


class _StoppedError(Exception):
    """The listing reached a limit or was stopped."""


class _ListingRun:
    """One run of the listing, in its own thread."""

    def __init__(self, folders: Sequence[Path], clock: Callable[[], float], reaper: Reaper) -> None:
        self.found = ListedFiles()
        self.ended = 0.0
        self._folders = folders
        self._clock = clock
        self._reaper = reaper
        self._until = clock() + TIME_LIMIT_SECONDS
        self._stopped = False
        self._git: PrivateGit | None = None
        # A daemon thread, because it must not delay the exit of the program.
        self._thread = threading.Thread(target=self._run, name="listing", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        self._stopped = True
        if self._git is not None:
            self._git.stop()
        self._thread.join(STOP_TIMEOUT_SECONDS)

    def _run(self) -> None:
        try:
            for folder in self._folders:
                self._list(folder, "" if folder == self._folders[0] else f"{folder}/")
        except _StoppedError:
            self.found.truncated = True
        finally:
            self.ended = self._clock()
            self.found.complete = True

    def _list(self, folder: Path, prefix: str) -> None:
        with suppress(OSError, GitError):
            repository = find_repository(folder)
            if repository is not None and self._list_repository(folder, repository, prefix):
                return
        self._add(_walk(folder), prefix)

    def _add(self, names: Iterable[str], prefix: str) -> None:
        """Add names in batches, so that the interface stays responsive."""
        batch: list[str] = []
        for name in names:
            batch.append(prefix + name)
            if len(batch) == BATCH_SIZE:
                self._add_batch(batch)
                batch = []
        self._add_batch(batch)

    def _add_batch(self, batch: list[str]) -> None:
        self.found.add(batch)
        if self._stopped or len(self.found.paths) > MAX_FILES or self._clock() > self._until:
            raise _StoppedError

    # ---- with git

    def _list_repository(self, folder: Path, repository: Repository, prefix: str) -> bool:
        """List a folder with git, without using the repository's configuration.

        Return False, without listing anything, if git ignores the folder.
        """
        with self._scratch_folder() as scratch:
            self._git = git = PrivateGit(scratch / "git", self._reaper, seconds=TIME_LIMIT_SECONDS)
            git.create()
            tree = GitWorkTree(repository.top, folder, git.directory / "users-index")
            path = os.path.join(".", folder.relative_to(repository.top))  # noqa: PTH118 - Path would drop the dot
            at_top = GitWorkTree(repository.top, repository.top, git.directory / "none")
            if folder != repository.top and git.ignores(at_top, path):
                return False
            self._add(self._tracked(git, tree, repository), prefix)
            excludes = [*_EXCLUDES]
            if (own := repository.common_dir / "info" / "exclude").is_file():
                excludes.append(f"--exclude-from={own}")
            untracked = list(_below_folder(tree, git.untracked(tree, excludes)))
            self.found.changed.update(prefix + name for name in untracked)
            self._add(untracked, prefix)
            self._find_changes(git, tree, prefix)
        return True

    @contextmanager
    def _scratch_folder(self) -> Iterator[Path]:
        try:
            folder = self._reaper.create_folder()
        except ReaperClosedError:
            raise _StoppedError from None
        try:
            yield folder
        finally:
            self._reaper.delete_folder(folder)

    @staticmethod
    def _tracked(git: PrivateGit, tree: GitWorkTree, repository: Repository) -> Iterator[str]:
        """Yield the tracked files, which are read from a copy of the index.

        Yield nothing if reading the index needs the repository's configuration.
        """
        try:
            if (index := repository.git_dir / "index").is_file():
                tree.index.write_bytes(index.read_bytes())
            yield from _below_folder(tree, git.tracked(tree))
        except (OSError, GitError):
            tree.index.unlink(missing_ok=True)

    def _find_changes(self, git: PrivateGit, tree: GitWorkTree, prefix: str) -> None:
        if not tree.index.exists():
            return
        records = list(git.modified_or_deleted(tree))
        names = _below_folder(tree, (record[2:] for record in records))
        for record, name in zip(records, names, strict=True):
            (self.found.missing if record.startswith(b"R") else self.found.changed).add(prefix + name)


def _walk(folder: Path) -> Iterator[str]:
    """Yield everything below a folder, breadth first. Does not enter links or folders in `_NOT_ENTERED`.

    Those folders are left out.
    """
    queue = deque([""])
    while queue:
        below = queue.popleft()
        try:
            with os.scandir(folder / below) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        yield below + entry.name
                    elif entry.name not in _NOT_ENTERED:
                        queue.append(f"{below}{entry.name}/")
                        yield f"{below}{entry.name}/"
        except OSError:  # unreadable, or deleted
            continue


def _below_folder(tree: GitWorkTree, names: Iterable[bytes]) -> Iterator[str]:
    """Yield names, which are relative to `tree.top`, relative to `tree.folder`."""
    start = 0 if tree.folder == tree.top else len(os.fsencode(tree.folder.relative_to(tree.top))) + 1
    return (os.fsdecode(name[start:]) for name in names)

"""Lists the files of a folder for file search, without those that git ignores.

Listing a large folder is slow, so it runs in a thread; partial results are available while it runs.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.baseline.private_git import GitContext, GitError, PrivateGit
from acp_tui.workspace.baseline.repository import find_repository
from acp_tui.workspace.baseline.work_tree import EXCLUDED_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from acp_tui.processes import Reaper
    from acp_tui.workspace.baseline.repository import Repository

MAX_AGE_SECONDS = 5.0
"""A listing older than this is refreshed on the next `look`."""
MAX_FILES = 250_000
"""Listing stops here: larger folders are home directories or whole disks."""
TIME_LIMIT_SECONDS = 20.0
"""Listing stops after this time."""
BATCH_SIZE = 2000
STOP_TIMEOUT_SECONDS = 2.0
"""How long `close` waits for the thread, which deletes its temporary files."""

_EXCLUDES = ("--exclude-standard", *(f"--exclude={name}/" for name in EXCLUDED_FOLDERS))
_NOT_ENTERED = frozenset(name for name in EXCLUDED_FOLDERS if "*" not in name) | {".git"}


class ListedFiles:
    """Files and folders, by their path below the working directory, or in full below another one.

    The lists grow together while the listing goes on, `paths` last; nothing in them changes its place.
    """

    def __init__(self) -> None:
        self.bases: list[str] = []
        """The last part of each path, in lower case."""
        self.lower: list[str] = []
        """Each path in lower case."""
        self.paths: list[str] = []
        """Each path; folders end with a slash."""
        self.touched: set[str] = set()
        """Untracked and modified files."""
        self.gone: set[str] = set()
        """Tracked files that are missing."""
        self.complete = False
        self.cut = False
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
    """The files below some folders, the first of which is the working directory."""

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        clock: Callable[[], float] = time.monotonic,
        reaper: Reaper | None = None,
    ) -> None:
        self._folders = list(folders)
        self._reaper = reaper
        self._clock = clock
        self._found: ListedFiles | None = None
        self._ended = 0.0
        self._work: _Work | None = None

    def look(self) -> ListedFiles:
        """Return the files known so far.

        Starts a new one if there is none or it is too old; until that is complete the old one is returned.
        """
        if self._work is not None and not self._work.running:
            self._found, self._ended, self._work = self._work.found, self._work.ended, None
        fresh = self._found is not None and self._clock() - self._ended < MAX_AGE_SECONDS
        if self._work is None and not fresh:
            self._work = _Work(self._folders, self._clock, self._reaper)
        if self._found is None:
            assert self._work is not None
            return self._work.found
        return self._found

    def close(self) -> None:
        """Stop the listing; may block briefly."""
        if self._work is not None:
            self._work.stop()


class _StoppedError(Exception):
    """The listing reached a limit or was stopped."""


class _Work:
    """One run of the listing, in a thread."""

    def __init__(self, folders: Sequence[Path], clock: Callable[[], float], reaper: Reaper | None) -> None:
        self.found = ListedFiles()
        self.ended = 0.0
        self._folders = folders
        self._clock = clock
        self._reaper = reaper
        self._until = clock() + TIME_LIMIT_SECONDS
        self._stopped = False
        self._git: PrivateGit | None = None
        # A daemon, because nobody waits for it at the end.
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
            self.found.cut = True
        finally:
            self.ended = self._clock()
            self.found.complete = True

    def _list(self, folder: Path, before: str) -> None:
        with suppress(OSError, GitError):
            repository = find_repository(folder)
            if repository is not None and self._list_repository(folder, repository, before):
                return
        self._add(_walk(folder), before)

    def _add(self, names: Iterable[str], before: str) -> None:
        """Add names in batches, so that the interface stays responsive."""
        batch: list[str] = []
        for name in names:
            batch.append(before + name)
            if len(batch) == BATCH_SIZE:
                self._take(batch)
                batch = []
        self._take(batch)

    def _take(self, batch: list[str]) -> None:
        self.found.add(batch)
        if self._stopped or len(self.found.paths) > MAX_FILES or self._clock() > self._until:
            raise _StoppedError

    # ---- with git

    def _list_repository(self, folder: Path, repository: Repository, before: str) -> bool:
        """What git knows, whatever the repository's configuration says; False: nothing of this folder."""
        with tempfile.TemporaryDirectory(prefix="acp-tui-") as scratch:
            self._git = git = PrivateGit(Path(scratch) / "git", self._reaper, seconds=TIME_LIMIT_SECONDS)
            git.create()
            tree = GitContext(repository.top, folder, git.directory / "users-index")
            here = os.path.join(".", folder.relative_to(repository.top))  # noqa: PTH118 - Path would drop the dot
            at_top = GitContext(repository.top, repository.top, git.directory / "none")
            if folder != repository.top and git.run(
                *("check-ignore", "--no-index", "--", here), tree=at_top, ok=(0, 1)
            ):
                return False
            self._add(self._tracked(git, tree, repository), before)
            excludes = [*_EXCLUDES]
            if (own := repository.common_dir / "info" / "exclude").is_file():
                excludes.append(f"--exclude-from={own}")
            words = ["ls-files", "--others", *excludes]
            new = list(_decoded(git.records(*words, tree=tree)))
            self.found.touched.update(before + name for name in new)
            self._add(new, before)
            self._see_changes(git, tree, before)
        return True

    @staticmethod
    def _tracked(git: PrivateGit, tree: GitContext, repository: Repository) -> Iterator[str]:
        """Files in a copy of the index; none when only its own repository can read that."""
        try:
            if (index := repository.git_dir / "index").is_file():
                tree.index.write_bytes(index.read_bytes())
            yield from _decoded(git.records("ls-files", "--cached", tree=tree))
        except (OSError, GitError):
            tree.index.unlink(missing_ok=True)

    def _see_changes(self, git: PrivateGit, tree: GitContext, before: str) -> None:
        if not tree.index.exists():
            return
        words = ["ls-files", "-t", "--modified", "--deleted"]
        for record in _decoded(git.records(*words, tree=tree)):
            sign, _, name = record.partition(" ")
            (self.found.gone if sign == "R" else self.found.touched).add(before + name)


def _walk(folder: Path) -> Iterator[str]:
    """Everything below a folder, what is near first; not what tools make, nor behind links."""
    waiting = deque([""])
    while waiting:
        below = waiting.popleft()
        try:
            with os.scandir(folder / below) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        yield below + entry.name
                    elif entry.name not in _NOT_ENTERED:
                        waiting.append(f"{below}{entry.name}/")
                        yield f"{below}{entry.name}/"
        except OSError:  # not ours to read, or gone
            continue


def _decoded(records: Iterable[bytes]) -> Iterator[str]:
    return map(os.fsdecode, records)

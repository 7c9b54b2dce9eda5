"""The files a person may want to name: all of a folder, without what a repository ignores.

Listing a large folder takes longer than a key press may, so it happens in a thread, and what it has found so
far can be looked at meanwhile.
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
"""Seconds after which a listing is made again when it is asked for."""
MAX_FILES = 250_000
"""Files; a folder with more is a home directory or a disk."""
TIME_LIMIT_SECONDS = 20.0
"""… and it takes no longer than that."""
BATCH_SIZE = 2000
STOP_TIMEOUT_SECONDS = 2.0
"""Seconds to wait for a look that was stopped; it has a few files to tidy up."""

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
        """Files that are not as they were committed."""
        self.gone: set[str] = set()
        """Files that git knows and that are not there."""
        self.complete = False
        self.cut = False
        """True: there are more than these."""
        self._known: set[str] = set()

    def add(self, names: Iterable[str]) -> None:
        """These too, with the folders they are in."""
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
        """What is known by now.

        When that is nothing, or old, another look begins; what was known serves until that has ended.
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
        """Stop looking; blocks for a moment."""
        if self._work is not None:
            self._work.stop()


class _StoppedError(Exception):
    """Enough was found, or nobody wants to know any more."""


class _Work:
    """One look at everything, in a thread."""

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
        """Take in what comes, a bit at a time: whoever looks on wants a turn."""
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

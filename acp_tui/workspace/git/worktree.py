"""The worktree of a conversation: where it is, and what it was made from."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from acp_tui.config.paths import worktrees_directory, write_private
from acp_tui.errors import UserError
from acp_tui.workspace.git.repository import find_repository

BRANCH_PREFIX = "acp-tui/"
"""The prefix of generated branch names."""
META_FIELD = "worktree"
"""The name of the field that holds the worktree in a session's metadata."""
log = logging.getLogger(__name__)
MAX_RECORD_BYTES = 100_000
"""A larger file is not a record."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A git worktree on a branch of its own, created for a conversation."""

    path: Path
    branch: str
    base: str  # the id of the commit from which it was created
    repository: Path  # the top folder of the user's checkout
    subfolder: str = ""  # the agent's folder, relative to the top; empty: the top
    target: str = ""  # the user's branch, into which to merge; empty: HEAD was detached
    trusted: bool = False  # the repository's own hooks and filters may run

    @property
    def folder(self) -> Path:
        """The folder in which the agent works. It is in the worktree."""
        return self.path / self.subfolder

    @property
    def project_folder(self) -> Path:
        """The counterpart of `folder` in the user's checkout.

        Rules, trust and history are stored for this counterpart.
        """
        return self.repository / self.subfolder

    def to_dict(self) -> dict[str, str | bool]:
        """Return the value to store as `META_FIELD` in a session's metadata."""
        values = asdict(self)
        return values | {"path": str(self.path), "repository": str(self.repository)}

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any], data_dir: Path) -> Worktree | None:
        """Return the worktree that a session's metadata describes; None if there is none or it is not valid.

        A path outside `data_dir` is ignored: acp-tui deletes worktrees, and must not delete any other folder.
        """
        saved = meta.get(META_FIELD)
        if not isinstance(saved, dict):
            return None
        values = {name: saved.get(name, "") for name in ("path", "branch", "base", "repository")}
        if not all(isinstance(value, str) and value for value in values.values()):
            return None
        subfolder, target = saved.get("subfolder", ""), saved.get("target", "")
        if not (isinstance(subfolder, str) and isinstance(target, str)):
            return None
        path = Path(values["path"])
        if not is_own_worktree(path, data_dir) or ".." in Path(subfolder).parts or subfolder.startswith("/"):
            return None
        trusted = saved.get("trusted") is True
        repository = Path(values["repository"])
        return cls(path, values["branch"], values["base"], repository, subfolder, target, trusted)


def worktrees_of_repository(data_dir: Path, top: Path) -> Path:
    """Return the folder for a repository's worktrees. The folder's name contains a hash of `top`."""
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:6]
    return worktrees_directory(data_dir) / f"{slug(top.name) or 'repository'}-{digest}"


def slug(text: str) -> str:
    """Return text as part of a file or branch name: lower case, with hyphens for unusual characters.

    The result does not begin with a dot. It may be empty.
    """
    return re.sub("[^a-z0-9._]+", "-", text.lower()).strip("-.")[:60]


def is_own_worktree(path: Path, data_dir: Path) -> bool:
    """Return True if a path is at or below a place for acp-tui's worktrees. The path need not exist."""
    own = worktrees_directory(data_dir).resolve()
    depth = len(own.parts) + 2
    return ".." not in path.parts and own in (real := path.resolve()).parents and len(real.parts) >= depth


def save_record(worktree: Worktree) -> None:
    """Save what is needed to find, merge and remove a worktree. A write error is logged, not raised."""
    try:
        write_private(_record_file(worktree.path), json.dumps(worktree.to_dict(), indent=2) + "\n")
    except OSError as error:
        log.warning("The record of the worktree %s could not be saved: %s", worktree.path, error)


def save_missing_record(worktree: Worktree) -> None:
    """Save the record of a worktree that was made before there were records."""
    if worktree.path.is_dir() and not _record_file(worktree.path).exists():
        save_record(worktree)


def delete_record(worktree: Worktree) -> None:
    with suppress(OSError):
        _record_file(worktree.path).unlink(missing_ok=True)


def recorded_worktrees(data_dir: Path) -> list[Worktree]:
    """Return the recorded worktrees whose folders exist. A record that is not valid is left out."""
    records = sorted(worktrees_directory(data_dir).glob("*/.*.json"))
    found = (_read_record(record, data_dir) for record in records)
    return [worktree for worktree in found if worktree is not None and worktree.path.is_dir()]


def record_worktrees(folder: Path, data_dir: Path, known: Collection[Worktree]) -> int:
    """Record worktrees that were made before there were records. Return the number of unknown ones. Blocks.

    Besides the known worktrees, these are the folders in the place for the worktrees of the repository of
    `folder` that git also lists as worktrees, on a branch. Their target is the branch that the repository has
    checked out now.
    """
    for worktree in known:
        save_missing_record(worktree)
    repository = find_repository(folder.resolve())
    if repository is None:
        return 0
    place = worktrees_of_repository(data_dir, repository.top)
    try:
        paths = [path for path in sorted(place.iterdir()) if path.is_dir() and not path.is_symlink()]
    except OSError:
        return 0
    found = list(_described([path for path in paths if not _record_file(path).exists()], repository.top))
    for worktree in found:
        save_record(worktree)
    return sum(_record_file(worktree.path).exists() for worktree in found)


def _described(paths: list[Path], repository: Path) -> Iterator[Worktree]:
    from acp_tui.workspace.git.git_commands import UserGit  # the first frame needs only names of branches

    for path in paths:
        git = UserGit.of_worktree(path, repository)
        if git is None:
            continue
        with suppress(UserError):
            target, branch = UserGit(repository).current_branch(), git.current_branch()
            base = git.merge_base(f"refs/heads/{target}") if target else git.commit_id("HEAD")
            if branch and base:
                yield Worktree(path, branch, base, repository, target=target)


def _record_file(path: Path) -> Path:
    return path.with_name(f".{path.name}.json")  # no worktree's name begins with a dot


def _read_record(record: Path, data_dir: Path) -> Worktree | None:
    try:
        if record.stat().st_size > MAX_RECORD_BYTES:
            return None
        saved = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    worktree = Worktree.from_meta({META_FIELD: saved}, data_dir)
    return worktree if worktree is not None and _record_file(worktree.path) == record else None


class WorktreeLock:
    """A shared lock on the folder of a worktree, held until `release` or until the process ends.

    `is_shared` returns False if the folder was missing from the start, and on network file systems without
    locks.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        self._path = path
        with suppress(OSError), _guard(path):
            self._descriptor = _open_folder(path)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def is_shared(self) -> bool:
        """Return True if another conversation, of this or another acp-tui process, holds the lock as well."""
        if self._descriptor is None:
            return False
        with suppress(OSError), _guard(self._path):
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:  # an attempt to get the exclusive lock releases the shared one
                fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Let only one process at a time take or test a worktree's lock.

    To test the lock, a process releases its own shared lock for a moment. Without the guard, another process
    could find the lock free at that moment.
    """
    descriptor = _open_folder(path.parent)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open_folder(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

"""The records beside the worktrees, which find a worktree whose session was deleted or lost."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from acp_tui.config.paths import worktrees_directory, write_private
from acp_tui.errors import UserError
from acp_tui.workspace.git.git_commands import UserGit
from acp_tui.workspace.git.repository import find_repository
from acp_tui.workspace.git.worktrees.worktree import META_FIELD, Worktree, worktrees_of_repository

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

MAX_RECORD_BYTES = 100_000
"""A larger file is not a record."""


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
    """Delete the record of a worktree that was removed."""
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

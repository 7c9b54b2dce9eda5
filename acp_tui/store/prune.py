"""Removes old sessions that exceed the limits on number and size.

Also removes the snapshots of sessions that are kept, by their age and size.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from acp_tui.config.paths import write_private
from acp_tui.store.locks import file_lock
from acp_tui.store.session_title import UnsentWork
from acp_tui.store.stored_sessions import (
    BASELINE,
    REMOVED,
    STORE_LOCK_TIMEOUT_SECONDS,
    StoredSession,
    list_sessions,
    removal_reason,
    sessions_directory,
    store_lock,
)

SECONDS_PER_DAY = 86_400
_REMOVED = ".removed-"


@dataclass(slots=True)
class PruneCandidate:
    """A session to remove, and its size in bytes."""

    session: StoredSession
    size: int


@dataclass(slots=True)
class PruneSelection:
    """The sessions that exceed the limits, the oldest first."""

    to_remove: list[PruneCandidate]
    unfinished: list[StoredSession]
    """Sessions that stay, because they contain work of the user that exists nowhere else."""


def select_sessions(data_dir: Path, state_dir: Path, *, keep: int, max_bytes: int) -> PruneSelection:
    """Return the sessions to remove, and those that stay although they exceed the limits.

    The newest ones stay: at most `keep` sessions, and at most `max_bytes` together. A session with a git
    worktree, a draft, queued prompts or review comments always stays.
    """
    beyond: list[PruneCandidate] = []
    total = 0
    for position, session in enumerate(list_sessions(data_dir)):
        size = session.size()
        total += size
        if position >= keep or total > max_bytes:
            beyond.append(PruneCandidate(session, size))
    if not beyond:
        return PruneSelection([], [])
    unsent = UnsentWork(state_dir)
    unfinished = [one.session for one in reversed(beyond) if _is_unfinished(one.session, unsent)]
    kept = {session.id for session in unfinished}
    return PruneSelection([one for one in reversed(beyond) if one.session.id not in kept], unfinished)


def _is_unfinished(session: StoredSession, unsent: UnsentWork) -> bool:
    if session.has_worktree or session.id in unsent.commented or unsent.drafts.get(session.id, "").strip():
        return True
    try:
        return session.has_queued_prompts()
    except OSError:
        return False  # it cannot be resumed


def remove_sessions(data_dir: Path, chosen: Sequence[PruneCandidate]) -> list[PruneCandidate]:
    """Remove the chosen sessions that are not in use. Return the removed sessions."""
    sessions = sessions_directory(data_dir)
    if not sessions.is_dir():
        return []
    removed = [one for one in chosen if _set_aside(one.session, one.session.path)]
    _delete_leftovers(sessions)
    return removed


def _delete_leftovers(sessions: Path) -> None:
    """Delete the folders that were set aside, also by a process that was interrupted."""
    for leftover in sessions.glob(f"{_REMOVED}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def prune(data_dir: Path, state_dir: Path, *, keep: int, max_bytes: int) -> list[PruneCandidate]:
    """Remove the sessions that exceed the limits, without unfinished ones. Return the removed sessions."""
    selected = select_sessions(data_dir, state_dir, keep=keep, max_bytes=max_bytes)
    return remove_sessions(data_dir, selected.to_remove)


def prune_baselines(data_dir: Path, *, days: int, max_bytes: int, now: float) -> list[StoredSession]:
    """Remove the snapshots of sessions that have not been used for `days`, and the oldest beyond `max_bytes`.

    The snapshots of sessions in use stay, and the newest one, whatever its size. In the place of each removed
    snapshot, a file says why, for when the session is resumed. Return the sessions.
    """
    kept = [
        session for session in list_sessions(data_dir) if (session.path / BASELINE).is_dir()
    ]  # the newest first
    sizes = _baseline_sizes([session.path / BASELINE for session in kept])
    removed: list[StoredSession] = []
    total = 0
    for position, (session, size) in enumerate(zip(kept, sizes, strict=True)):
        if removal_reason(session.path / BASELINE):
            continue
        total += size
        if now - session.updated > days * SECONDS_PER_DAY:
            why = f"the session was not used for {days} days (workspace.keep_baseline_days)"
        elif position and total > max_bytes:
            limit = f"{max_bytes / 1e6:,.0f} MB (workspace.keep_baseline_bytes)"
            why = f"the copies of all sessions took more than {limit}"
        else:
            continue
        if _set_aside(session, session.path / BASELINE):
            removed.append(session)
            with suppress(OSError):
                write_private(session.path / BASELINE / REMOVED, f"{why}\n")
    _delete_leftovers(sessions_directory(data_dir))
    return removed


def _baseline_sizes(folders: Sequence[Path]) -> list[int]:
    """Return the bytes that each of these folders takes, without files that are also elsewhere.

    The objects of the user's repository are hard links, which take no space as long as the repository has
    them. A file that only these folders have counts for the first of them.
    """
    files = [list(_files_below(folder)) for folder in folders]
    links = Counter((status.st_dev, status.st_ino) for found in files for status in found)
    counted: set[tuple[int, int]] = set()
    sizes = []
    for found in files:
        size = 0
        for status in found:
            key = (status.st_dev, status.st_ino)
            if key not in counted and links[key] >= status.st_nlink:
                counted.add(key)
                size += status.st_size
        sizes.append(size)
    return sizes


def _files_below(folder: Path) -> Iterator[os.stat_result]:
    for directory, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # deleted meanwhile
                yield os.lstat(os.path.join(directory, name))  # noqa: PTH118 - thousands of git objects


def sessions_in_use(data_dir: Path) -> set[str]:
    """Return the ids of the sessions in use, in this or another process.

    Raises `LockedError` if another process takes too long to open or remove a session.
    """
    sessions = sessions_directory(data_dir)
    if not sessions.is_dir():
        return set()
    # Hold the lock, because a process that opens a session during the check would find the session in use.
    with file_lock(store_lock(sessions), timeout=STORE_LOCK_TIMEOUT_SECONDS):
        return {session.id for session in list_sessions(data_dir) if session.in_use()}


def _set_aside(session: StoredSession, path: Path) -> bool:
    """Rename a folder of the session, so that the folder can be deleted later.

    Deleting may take a while and be interrupted; renaming is atomic.

    Return False if the session is in use, or if the folder cannot be renamed.
    """
    sessions = session.path.parent
    # While we hold this lock, no process can open the session for writing.
    try:
        with file_lock(store_lock(sessions), timeout=STORE_LOCK_TIMEOUT_SECONDS):
            if session.in_use():
                return False
            path.rename(sessions / f"{_REMOVED}{session.id}{path.suffix}")
    except OSError:
        return False
    return True

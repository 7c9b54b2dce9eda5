"""Removes old sessions that exceed the limits on number and size.

Also removes project snapshots that a killed acp-tui left in sessions that are kept.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.store.files.locks import file_lock
from acp_tui.store.stored_sessions import (
    BASELINE,
    STORE_LOCK_TIMEOUT_SECONDS,
    StoredSession,
    list_sessions,
    sessions_directory,
    store_lock,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_REMOVED = ".removed-"


@dataclass(slots=True)
class PruneCandidate:
    """A session to remove, and its size in bytes."""

    session: StoredSession
    size: int


def prune_candidates(data_dir: Path, *, keep: int, max_bytes: int) -> list[PruneCandidate]:
    """Return the sessions to remove, the oldest first.

    The newest ones stay: at most `keep` sessions, and at most `max_bytes` together. A session with a
    git worktree always stays: the worktree can contain work that exists nowhere else.
    """
    found: list[PruneCandidate] = []
    total = 0
    for position, session in enumerate(list_sessions(data_dir)):
        size = session.size()
        total += size
        if (position >= keep or total > max_bytes) and not session.has_worktree:
            found.append(PruneCandidate(session, size))
    return found[::-1]


def remove_sessions(data_dir: Path, chosen: Sequence[PruneCandidate]) -> list[PruneCandidate]:
    """Remove the chosen sessions that are not in use. Return the removed sessions."""
    sessions = sessions_directory(data_dir)
    if not sessions.is_dir():
        return []
    removed = [one for one in chosen if _set_aside(one.session, one.session.path)]
    # Deleting may take a while and be interrupted, so the folders were renamed first, which is atomic.
    for leftover in sessions.glob(f"{_REMOVED}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    return removed


def prune(data_dir: Path, *, keep: int, max_bytes: int) -> list[PruneCandidate]:
    """Remove the sessions that exceed the limits, and leftover snapshots. Return the removed sessions."""
    for session in list_sessions(data_dir):
        if (copies := session.path / BASELINE).is_dir():
            _set_aside(session, copies)
    return remove_sessions(data_dir, prune_candidates(data_dir, keep=keep, max_bytes=max_bytes))


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

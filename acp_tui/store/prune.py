"""Removes old sessions beyond the limits on number and size.

Also removes project snapshots that a killed acp-tui left behind in sessions that stay.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.store.folders import (
    BASELINE,
    LOCK_PATIENCE,
    StoredSession,
    list_sessions,
    sessions_directory,
    store_lock,
)
from acp_tui.store.locks import locked, try_lock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_REMOVED = ".removed-"


@dataclass(slots=True)
class PruneCandidate:
    """A session that is over the limits."""

    session: StoredSession
    size: int


def prune_candidates(data_dir: Path, *, keep: int, max_bytes: int) -> list[PruneCandidate]:
    """The sessions beyond the newest `keep`, or beyond the newest that fit into `max_bytes`; oldest first."""
    found: list[PruneCandidate] = []
    total = 0
    for position, session in enumerate(list_sessions(data_dir)):
        size = session.size()
        total += size
        if position >= keep or total > max_bytes:
            found.append(PruneCandidate(session, size))
    return found[::-1]


def remove(data_dir: Path, chosen: Sequence[PruneCandidate]) -> list[PruneCandidate]:
    """Remove these sessions with all that belongs to them; returns those that were, as none in use is."""
    sessions = sessions_directory(data_dir)
    if not sessions.is_dir():
        return []
    removed = [one for one in chosen if _take_away(one.session, one.session.path)]
    # Deleting may take a while and be cut short, so it is done on what nobody sees any more.
    for leftover in sessions.glob(f"{_REMOVED}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    return removed


def prune(data_dir: Path, *, keep: int, max_bytes: int) -> list[PruneCandidate]:
    """Bring the store within its limits; returns what was removed."""
    for session in list_sessions(data_dir):
        if (copies := session.path / BASELINE).is_dir():
            _take_away(session, copies)
    return remove(data_dir, prune_candidates(data_dir, keep=keep, max_bytes=max_bytes))


def _take_away(session: StoredSession, path: Path) -> bool:
    """Take the folder of a session, or one in it, out of everybody's sight; not while somebody uses it."""
    sessions = session.path.parent
    # Nobody can open it for writing while we hold the lock of the store.
    try:
        with locked(store_lock(sessions), patience=LOCK_PATIENCE):
            if _in_use(session):
                return False
            path.rename(sessions / f"{_REMOVED}{session.id}{path.suffix}")
    except OSError:
        return False
    return True


def _in_use(session: StoredSession) -> bool:
    try:
        descriptor = os.open(session.wire, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)

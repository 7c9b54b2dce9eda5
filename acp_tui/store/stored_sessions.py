"""Recorded sessions, as stored in one folder each below `sessions/` in the data directory.

sessions/20261120-101500-claude-code-3f2a/
    meta.json      what a list of sessions shows, with the version of the format
    wire.jsonl     all records, from which the session is rebuilt; the writer holds a lock on the file
    stderr.log     the agent's standard error with times, limited in size
    wire.index     where the lines of wire.jsonl start; a cache (`acp_tui/wire/frame_index.py`)
    closing        exists while the session is being closed, which may take a while
    baseline.git/  the snapshot of the project (see `workspace`) and the review; `prune` limits age and size
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.own_files import (
    MAX_RECORDING_BYTES,
    UnusableFileError,
    check_own,
    open_own,
    read_own,
    read_own_object,
)
from acp_tui.config.paths import write_private
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.store.locks import try_lock
from acp_tui.store.wire_log import read_log

if TYPE_CHECKING:
    from acp_tui.session.record import Record

FORMAT_VERSION = 1
WIRE = "wire.jsonl"
STDERR = "stderr.log"
META = "meta.json"
BASELINE = "baseline.git"
REMOVED = "removed"
"""The name of the only file that is left in `BASELINE` after `prune` has deleted the snapshot."""

CLOSING = "closing"
FINISHED = "finished"
"""The name of a field in the worktree's metadata: whether the user has merged or discarded the worktree."""

STORE_LOCK_TIMEOUT_SECONDS = 2.0
"""Seconds to wait, in a thread, while another process creates, opens or removes a session."""


def removal_reason(baseline: Path) -> str:
    """Return why the snapshot of a session was deleted, as a clause; an empty string if it was not."""
    with suppress(OSError, ValueError):
        return escape_line(read_own(baseline / REMOVED).decode()[:200].strip())
    return ""


def stderr_file(log: Path) -> Path:
    """Return the file with the agent's stderr beside a log, which can be outside of a session folder."""
    return log.with_name(STDERR if log.name == WIRE else f"{log.name}.stderr")


def sessions_directory(data_dir: Path) -> Path:
    return data_dir / "sessions"


def store_lock(sessions: Path) -> Path:
    """Return the lock file for creating, opening and removing session folders."""
    return sessions / ".lock"


@dataclass(slots=True)
class StoredSession:
    """A recorded session that is only read. Another acp-tui may be writing to it."""

    path: Path
    meta: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    """Why the wire log cannot be read, as a clause, if it is not a regular file or is too large."""

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def wire(self) -> Path:
        """The path of the wire log. The file can be missing."""
        return self.path / WIRE

    @property
    def updated(self) -> float:
        """Time of the last activity, in seconds since the epoch."""
        for key in ("updated", "started"):
            moment = self.meta.get(key)
            if isinstance(moment, int | float):
                return float(moment)
        for path in (self.wire, self.path):
            with suppress(OSError):
                return path.stat().st_mtime
        return 0.0

    def text(self, key: str) -> str | None:
        """Return a field of the metadata; None if the field is missing, empty or not a string."""
        value = self.meta.get(key)
        return value if isinstance(value, str) and value else None

    @property
    def project_folder(self) -> str:
        """The folder in which the session was started, in the user's own checkout; empty if unknown.

        It differs from `cwd` if the session has a git worktree of its own.
        """
        top, below = self._worktree.get("repository"), self._worktree.get("subfolder", "")
        if isinstance(top, str) and top and isinstance(below, str):
            return str(Path(top) / below)
        return self.text("cwd") or ""

    @property
    def folders(self) -> set[str]:
        """The real paths of the folders that the session belongs to: its project's and its worktree's."""
        return {os.path.realpath(path) for path in (self.project_folder, self.text("cwd")) if path}

    @property
    def has_worktree(self) -> bool:
        """Whether the session has a git worktree of its own, and the worktree still exists."""
        path = self._worktree.get("path")
        return isinstance(path, str) and bool(path) and Path(path).is_dir()

    @property
    def is_worktree_finished(self) -> bool:
        """Whether the user has merged or discarded the session's git worktree since it was last opened."""
        return self._worktree.get(FINISHED) is True

    @property
    def is_tap(self) -> bool:
        """Whether `acp-tui tap` has recorded the session of an editor."""
        return self.meta.get("tap") is True

    @property
    def branch(self) -> str:
        """The branch of the session's git worktree; empty if the session has no worktree."""
        branch = self._worktree.get("branch")
        return branch if isinstance(branch, str) else ""

    @property
    def _worktree(self) -> dict[str, Any]:
        worktree = self.meta.get("worktree")
        return worktree if isinstance(worktree, dict) else {}

    def records(self, on_damaged_line: Callable[[int], None] | None = None) -> Iterator[Record]:
        """Yield the records of the wire log; none if there is no log. Raises `OSError`."""
        with suppress(FileNotFoundError):
            yield from read_log(self.wire, on_damaged_line)

    def has_queued_prompts(self) -> bool:
        """Return True if prompts are queued that were not sent. Raises `OSError`."""
        queued: set[str] = set()
        with suppress(FileNotFoundError):
            for record in read_log(self.wire, containing=b'queued"'):
                match record.frame:
                    case {"event": "queued", "id": str() as prompt}:
                        queued.add(prompt)
                    case {"event": "unqueued", "id": str() as prompt}:
                        queued.discard(prompt)
        return bool(queued)

    def in_use(self) -> bool:
        """Return True if this or another acp-tui has the session open. Raises `OSError`."""
        try:
            descriptor = open_own(self.wire, os.O_RDONLY)
        except (FileNotFoundError, UnusableFileError):
            return False
        try:
            return not try_lock(descriptor)
        finally:
            os.close(descriptor)

    def is_closing(self) -> bool:
        """Return True if the acp-tui that has the session open is closing it."""
        return (self.path / CLOSING).exists()

    def size(self) -> int:
        """Return the size of the recording in bytes, without the snapshot, which has a limit of its own."""
        total = 0
        for directory, folders, names in os.walk(self.path):
            if BASELINE in folders:
                folders.remove(BASELINE)
            for name in names:
                with suppress(OSError):  # another process may delete files meanwhile
                    status = (Path(directory) / name).lstat()
                    # A file with holes takes less than its size. Without this, one could make `prune` remove
                    # all other sessions.
                    total += min(status.st_size, max(status.st_blocks * 512, 4096))
        return total


def read_session(path: Path) -> StoredSession:
    """Read a session folder. Damaged metadata is treated as missing."""
    fault = ""
    try:
        check_own(path / WIRE, MAX_RECORDING_BYTES)
    except UnusableFileError as error:
        fault = error.clause
    return StoredSession(path, read_own_object(path / META), fault)


def save_meta(session: StoredSession, **fields: Any) -> None:
    """Update fields of the metadata of a session that is not open. Raises `OSError`."""
    from acp_tui.store.redaction import redact_value  # its patterns take time to load

    meta = session.meta | fields
    write_private(session.path / META, json.dumps(redact_value(meta), indent=2) + "\n")


def list_sessions(data_dir: Path) -> list[StoredSession]:
    """Return all sessions, most recently used first."""
    try:
        found = [
            read_session(Path(entry.path))
            for entry in os.scandir(sessions_directory(data_dir))
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda session: (session.updated, session.id), reverse=True)


def find_session(data_dir: Path, reference: str) -> StoredSession:
    """Find a session by its folder's path, its id or a unique prefix of the id. Raises `UserError`."""
    path = Path(os.path.expanduser(reference))  # noqa: PTH111 - leaves an unknown `~user` as it is
    with suppress(OSError):  # for example, the name is too long
        if (path / WIRE).exists() or (path / META).exists():
            return read_session(path.absolute())
    known = list_sessions(data_dir)
    matching = [session for session in known if session.id.startswith(reference)] if reference else []
    exact = [session for session in matching if session.id == reference]
    if len(found := exact or matching) == 1:
        return found[0]
    raise UserError(_not_found_message(reference, matching, [session.id for session in known]))


def _not_found_message(reference: str, matching: list[StoredSession], known: list[str]) -> str:
    reference = escape_line(reference)
    if matching:
        few = ", ".join(escape_line(session.id) for session in matching[:3])
        more = f" and {len(matching) - 3} more" if len(matching) > 3 else ""
        return f'"{reference}" matches several sessions: {few}{more}. Type more of the id.'
    if not known:
        return f'There is no session "{reference}": none has been recorded yet.'
    from difflib import get_close_matches

    near = get_close_matches(reference, known, n=1, cutoff=0.4)
    hint = f" Did you mean {escape_line(near[0])}?" if near else ""
    return f'There is no session "{reference}".{hint} `acp-tui sessions` lists all sessions.'

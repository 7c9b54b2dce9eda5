"""A folder per session, below `sessions/` in the data directory.

sessions/20261120-101500-claude-code-3f2a/
    meta.json      what a list of sessions shows, with the format's version
    wire.jsonl     every record, from which the session is folded; the writer holds a lock on it
    stderr.log     the agent's standard error, bounded
    baseline.git/  the snapshot of the project (see `workspace`); deleted when the session is closed
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import private_directory, write_private
from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.errors import UserError
from acp_tui.store.locks import locked, try_lock
from acp_tui.store.redaction import Redactor, redact_value
from acp_tui.store.secret_patterns import redact_text
from acp_tui.store.stderr_log import StderrLog
from acp_tui.store.wire_log import NullLog, WireLog, read_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from acp_tui.session.record import Record

FORMAT = 1
WIRE = "wire.jsonl"
STDERR = "stderr.log"
META = "meta.json"
BASELINE = "baseline.git"

LOCK_PATIENCE = 2.0
"""Seconds to wait, in a thread, for another process that creates, opens or removes a session."""


def sessions_directory(data_dir: Path) -> Path:
    """Return the directory of the session folders."""
    return data_dir / "sessions"


def store_lock(sessions: Path) -> Path:
    """Return the lock file for creating, opening and removing session folders."""
    return sessions / ".lock"


# --------------------------------------------------------------------------- reading


@dataclass(slots=True)
class StoredSession:
    """A recorded session, read-only. Another acp-tui may be writing it."""

    path: Path
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.path.name

    @property
    def wire(self) -> Path:
        """The wire log."""
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
        """Return a string of the metadata; None if it is missing or not a string."""
        value = self.meta.get(key)
        return value if isinstance(value, str) and value else None

    def records(self, damaged: Callable[[int], None] | None = None) -> Iterator[Record]:
        """Yield the records of the wire log; none if there is no log."""
        with suppress(FileNotFoundError):
            yield from read_log(self.wire, damaged)

    def size(self) -> int:
        """Return the size of the folder in bytes."""
        total = 0
        for directory, _, names in os.walk(self.path):
            for name in names:
                with suppress(OSError):  # it may be written or pruned just now
                    total += os.lstat(os.path.join(directory, name)).st_size  # noqa: PTH118 - thousands of git objects
        return total


def read_session(path: Path) -> StoredSession:
    """Read a session folder. Damaged metadata is treated as missing."""
    meta: Any = None
    with suppress(OSError, ValueError, RecursionError):
        meta = json.loads((path / META).read_bytes())
    return StoredSession(path, meta if isinstance(meta, dict) else {})


def list_sessions(data_dir: Path) -> list[StoredSession]:
    """Return all sessions, the last used first."""
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
    """Find a session by id, by a prefix of its id, or by its folder. Raises `UserError`."""
    path = Path(reference).expanduser()
    if (path / WIRE).exists() or (path / META).exists():
        return read_session(path.absolute())
    known = list_sessions(data_dir)
    matching = [session for session in known if session.id.startswith(reference)] if reference else []
    exact = [session for session in matching if session.id == reference]
    if len(found := exact or matching) == 1:
        return found[0]
    raise UserError(_not_one(reference, matching, [session.id for session in known]))


def _not_one(reference: str, matching: list[StoredSession], known: list[str]) -> str:
    if matching:
        few = ", ".join(session.id for session in matching[:3])
        more = f" and {len(matching) - 3} more" if len(matching) > 3 else ""
        return f'"{reference}" matches several sessions: {few}{more}. Type more of the id.'
    if not known:
        return f'There is no session "{reference}": none has been recorded yet.'
    from difflib import get_close_matches

    near = get_close_matches(reference, known, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f'There is no session "{reference}".{hint} `acp-tui sessions` lists them.'


# --------------------------------------------------------------------------- writing


class SessionFolder:
    """A session being recorded. Its lock is held until `close`, or until this process is gone.

    Once it is open nothing here raises: write errors are reported to `on_trouble`, once, and the conversation
    continues.
    """

    def __init__(
        self,
        path: Path,
        meta: dict[str, Any],
        wire: int,
        clock: Callable[[], float],
        is_sensitive: Callable[[str], object],
        max_bytes: int | None,
    ) -> None:
        self.path = path
        self.meta = meta
        self.on_trouble: Callable[[str], None] | None = None
        """Called with a sentence when recording stops or resumes."""
        self._clock = clock
        self._log_fails = False
        self._told: set[str] = set()
        self._wire = wire
        self._stderr = os.open(path / STDERR, _APPEND, 0o600)
        self._stderr_log = StderrLog(
            self._stderr, redact=redact_text, trouble=partial(self._side_trouble, "The agent's stderr")
        )
        self.log = WireLog(
            wire,
            redactor=Redactor(is_sensitive),
            trouble=self._log_trouble,
            max_bytes=max_bytes,
            on_full=self._report_full,
        )
        self._max_bytes = max_bytes
        self._closed = False

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.path.name

    def update_meta(self, **fields: Any) -> None:
        """Update fields of the metadata, and the time of the last update."""
        self.meta |= fields | {"updated": self._clock()}
        try:
            write_private(self.path / META, json.dumps(redact_value(self.meta), indent=2) + "\n")
        except OSError as error:
            self._side_trouble("Session metadata", error)

    def stderr_sink(self, data: bytes | str) -> None:
        """Append to the log of the agent's stderr."""
        self._stderr_log.write(data)

    def close(self) -> None:
        """Release the lock and stop recording."""
        if not self._closed:
            self._closed = True
            self._stderr_log.close()
            self.log.close()
            os.close(self._stderr)
            os.close(self._wire)

    def _report_full(self) -> None:
        self._tell(
            f"Recording stopped: the log has reached {(self._max_bytes or 0) / 1e6:,.0f} MB"
            " (log.max_session_bytes). The conversation continues, but the rest"
            " of it cannot be resumed or exported"
        )

    def _log_trouble(self, error: OSError | None) -> None:
        self._log_fails = error is not None
        if error is not None:
            self._tell(f"Recording paused: {_reason(error)}")
        else:
            self._tell("Recording resumed; messages sent in between are missing")

    def _side_trouble(self, what: str, error: OSError) -> None:
        """Report a write error beside the wire log, once, and not while the wire log itself fails."""
        if what not in self._told and not self._log_fails:
            self._told.add(what)
            self._tell(f"{what} could not be saved: {_reason(error)}")

    def _tell(self, sentence: str) -> None:
        if self.on_trouble is not None:
            self.on_trouble(f"{sentence} ({self.path}).")


class NullFolder:
    """Stands in for a folder with `--no-log`, or when none can be created: nothing is written."""

    path = None
    id = None

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.on_trouble: Callable[[str], None] | None = None
        self.log = NullLog()

    def update_meta(self, **fields: Any) -> None:
        """Update the metadata in memory."""
        self.meta |= fields

    def stderr_sink(self, data: bytes | str) -> None:
        """Discard the data."""

    def close(self) -> None:
        """Do nothing: there is no lock to release."""


_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


def create(
    data_dir: Path,
    *,
    agent: str,
    title: str,
    cwd: str,
    command: Sequence[str],
    ad_hoc: bool = False,
    clock: Callable[[], float] = time.time,
    is_sensitive: Callable[[str], object] = holds_secrets,
    max_bytes: int | None = None,
) -> SessionFolder:
    """Start recording a new session. Raises `UserError`.

    The contents of files for which `is_sensitive` is true are not recorded. Recording ends at `max_bytes`.
    """
    sessions = sessions_directory(data_dir)
    started = clock()
    try:
        private_directory(sessions)
        with locked(
            store_lock(sessions), patience=LOCK_PATIENCE
        ):  # nobody may prune it before it has its own lock
            path = _new_directory(sessions, agent, started)
            try:
                wire = _open_locked(path)
            except OSError:
                shutil.rmtree(path, ignore_errors=True)
                raise
        meta = {
            "format": FORMAT,
            "agent": agent,
            "agent_title": title,
            "cwd": cwd,
            "directories": [],
            "command": list(command),
            "ad_hoc": ad_hoc,
            "session_id": None,
            "title": None,
            "started": started,
            "updated": started,
            "stop": None,
        }
        folder = SessionFolder(path, meta, wire, clock, is_sensitive, max_bytes)
    except OSError as error:
        raise UserError(f"The session cannot be recorded: {_reason(error)} ({sessions}).") from error
    folder.update_meta()
    return folder


def reopen(
    session: StoredSession,
    *,
    clock: Callable[[], float] = time.time,
    is_sensitive: Callable[[str], object] = holds_secrets,
    max_bytes: int | None = None,
) -> SessionFolder:
    """Continue recording a session. Raises `UserError`, for example if another process has it open."""
    version = session.meta.get("format", FORMAT)
    if not isinstance(version, int) or version > FORMAT:
        raise UserError(f"The session {session.id} was written by a newer acp-tui; please update.")
    try:
        with locked(store_lock(session.path.parent), patience=LOCK_PATIENCE):
            wire = _open_locked(session.path)
        meta = session.meta or {"format": FORMAT}
        return SessionFolder(session.path, meta, wire, clock, is_sensitive, max_bytes)
    except OSError as error:
        raise UserError(f"The session {session.id} cannot be opened: {_reason(error)}.") from error


def _new_directory(sessions: Path, agent: str, started: float) -> Path:
    # UTC, so that names sort by time also when clocks go back in autumn.
    moment = datetime.fromtimestamp(started, UTC).strftime("%Y%m%d-%H%M%S")
    slug = re.sub("[^a-z0-9]+", "-", agent.lower()).strip("-")[:24].strip("-") or "agent"
    while True:
        path = sessions / f"{moment}-{slug}-{os.urandom(2).hex()}"
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path


def _open_locked(path: Path) -> int:
    descriptor = os.open(path / WIRE, _APPEND, 0o600)
    if not try_lock(descriptor):
        os.close(descriptor)
        raise UserError(f"The session {path.name} is open in another acp-tui.")
    return descriptor


def _reason(error: OSError) -> str:
    return error.strerror or str(error)

"""The folder of a session that is being recorded (`stored_sessions` lists the folder's files)."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import MAX_RECORDING_BYTES, UnusableFileError, open_own
from acp_tui.config.paths import private_directory, write_private
from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.errors import UserError
from acp_tui.store.locks import file_lock, try_lock, unlock_and_close
from acp_tui.store.redaction import Redactor, redact_value
from acp_tui.store.secret_patterns import redact_after
from acp_tui.store.stderr_log import StderrLog
from acp_tui.store.stored_sessions import (
    CLOSING,
    FORMAT_VERSION,
    META,
    STDERR,
    STORE_LOCK_TIMEOUT_SECONDS,
    WIRE,
    StoredSession,
    sessions_directory,
    store_lock,
)
from acp_tui.store.wire_log import NullLog, WireLog

CLOSING_SECONDS = 15.0
"""The longest wait for a session that is being closed. An agent may end slowly."""
RETRY_SECONDS = 0.05
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT


class SessionFolder:
    """The folder of a session that is being recorded. Locked until `close`, or until the process ends.

    Methods never raise: write errors are reported to `on_notice`, and the conversation continues.
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
        self.on_notice: Callable[[str], None] | None = None
        """Called with a sentence when something cannot be recorded, and when recording resumes."""
        self._clock = clock
        self._log_fails = False
        self._reported: set[str] = set()
        self._wire = wire
        self._stderr = open_own(path / STDERR, _APPEND)
        self._stderr_log = StderrLog(
            self._stderr,
            redact=redact_after,
            on_error=partial(self._on_file_error, "The agent's stderr"),
            clock=clock,
        )
        self.log = WireLog(
            wire,
            redactor=Redactor(is_sensitive),
            on_error=self._on_log_error,
            max_bytes=max_bytes,
            on_full=self._on_log_full,
        )
        self._max_bytes = max_bytes
        self._closed = False

    @property
    def id(self) -> str:
        return self.path.name

    def update_meta(self, **fields: Any) -> None:
        """Update fields of the metadata and the time of the last activity."""
        self.meta |= fields | {"updated": self._clock()}
        try:
            write_private(self.path / META, json.dumps(redact_value(self.meta), indent=2) + "\n")
        except OSError as error:
            self._on_file_error("Session metadata", error)

    def stderr_sink(self, data: bytes | str) -> None:
        """Append to the log of the agent's standard error."""
        self._stderr_log.write(data)

    def mark_closing(self) -> None:
        """Note that the session is being closed, so that whoever wants to open it waits."""
        with suppress(OSError):
            (self.path / CLOSING).touch(mode=0o600)

    def close(self) -> None:
        """Stop recording and release the lock. Further calls do nothing."""
        if not self._closed:
            self._closed = True
            with suppress(OSError):
                (self.path / CLOSING).unlink(missing_ok=True)
            self._stderr_log.close()
            self.log.close()
            os.close(self._stderr)
            unlock_and_close(self._wire)

    def _on_log_full(self) -> None:
        self._notify(
            f"Recording stopped: the log has reached {(self._max_bytes or 0) / 1e6:,.0f} MB"
            " (log.max_session_bytes). The conversation continues, but the rest"
            " of it cannot be resumed or exported"
        )

    def _on_log_error(self, error: OSError | None) -> None:
        self._log_fails = error is not None
        if error is not None:
            self._notify(f"Recording paused: {_reason(error)}")
        else:
            self._notify("Recording resumed; messages sent while it was paused are missing")

    def _on_file_error(self, what: str, error: OSError) -> None:
        """Report once that a file cannot be saved. While the wire log fails, only its failure is reported."""
        if what not in self._reported and not self._log_fails and self.on_notice is not None:
            self._reported.add(what)
            self._notify(f"{what} could not be saved: {_reason(error)}")

    def _notify(self, sentence: str) -> None:
        if self.on_notice is not None:
            self.on_notice(f"{sentence} ({self.path}).")


class NullFolder:
    """Replaces `SessionFolder` if nothing is recorded, for example because of `--no-log`."""

    path = None
    id = None

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.on_notice: Callable[[str], None] | None = None
        self.log = NullLog()

    def update_meta(self, **fields: Any) -> None:
        self.meta |= fields

    def stderr_sink(self, data: bytes | str) -> None:
        """Ignore the output, because nothing is recorded."""

    def mark_closing(self) -> None:
        """Do nothing: nobody waits for a session that is not recorded."""

    def close(self) -> None:
        """Do nothing: without a session folder, there is no lock to release."""


def create_session_folder(
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
    worktree: dict[str, str | bool] | None = None,
    forked: StoredSession | None = None,
) -> SessionFolder:
    """Create the folder of a new session and start recording. Raises `UserError` on failure.

    Args:
        data_dir: The data directory of acp-tui.
        agent: The agent's short name.
        title: The agent's title.
        cwd: The working directory.
        command: The command that starts the agent.
        ad_hoc: Whether `command` was given on the command line.
        clock: Returns the time in seconds since the epoch.
        is_sensitive: Tells whether a path is sensitive. The contents of sensitive files are not recorded.
        max_bytes: The size of the log at which recording ends; None for no limit.
        worktree: The git worktree that was made for the session, for the metadata.
        forked: The session of which the new one is a copy. The new log begins with the records of `forked`.
    """
    sessions = sessions_directory(data_dir)
    started = clock()
    try:
        private_directory(sessions)
        # Until the folder has its own lock, it must not be pruned.
        with file_lock(store_lock(sessions), timeout=STORE_LOCK_TIMEOUT_SECONDS):
            path = _new_directory(sessions, agent, started)
            try:
                wire = _open_locked(path)
                if forked is not None:
                    _copy_log(forked, wire)
            except OSError:
                shutil.rmtree(path, ignore_errors=True)
                raise
        meta = {
            "format": FORMAT_VERSION,
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
        if worktree is not None:
            meta["worktree"] = worktree
        if forked is not None:
            meta["title"] = forked.text("title")
        folder = SessionFolder(path, meta, wire, clock, is_sensitive, max_bytes)
    except OSError as error:
        raise UserError(f"The session cannot be recorded: {_reason(error)} ({sessions}).") from error
    if forked is None:
        folder.update_meta()
        return folder
    from acp_tui.store.session_title import recorded_title  # its imports take 4 MB

    if original := recorded_title(forked):
        set_session_name(folder, f"Fork of {original}")  # its tab must not look like that of the original
    else:
        folder.update_meta()
    return folder


def reopen_session_folder(
    session: StoredSession,
    *,
    clock: Callable[[], float] = time.time,
    is_sensitive: Callable[[str], object] = holds_secrets,
    max_bytes: int | None = None,
) -> SessionFolder:
    """Continue recording a session. Blocks while another process or tab is closing the session.

    Raises `UserError`, for example if the session is open in another process.
    """
    version = session.meta.get("format", FORMAT_VERSION)
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise UserError(f"The session {session.id} was written by a newer acp-tui; please update.")
    try:
        wire = _open_when_closed(session)
        meta = session.meta or {"format": FORMAT_VERSION}
        try:
            return SessionFolder(session.path, meta, wire, clock, is_sensitive, max_bytes)
        except OSError:
            os.close(wire)
            raise
    except OSError as error:
        raise UserError(f"The session {session.id} cannot be opened: {_reason(error)}.") from error


def _open_when_closed(session: StoredSession) -> int:
    """Open and lock the log of a session. Raises `UserError` if the session stays open."""
    deadline = time.monotonic() + CLOSING_SECONDS
    while True:
        closing = session.is_closing()
        try:
            with file_lock(store_lock(session.path.parent), timeout=STORE_LOCK_TIMEOUT_SECONDS):
                wire = _open_locked(session.path)
        except UserError:
            if not closing or time.monotonic() >= deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            with suppress(OSError):  # left by a killed process
                (session.path / CLOSING).unlink(missing_ok=True)
            return wire


def _copy_log(session: StoredSession, wire: int) -> None:
    source_file = open_own(session.wire, os.O_RDONLY, MAX_RECORDING_BYTES)
    with open(source_file, "rb") as source, open(wire, "wb", closefd=False) as target:
        shutil.copyfileobj(source, target)


def _new_directory(sessions: Path, agent: str, started: float) -> Path:
    # In UTC, so that names sort by time even when daylight saving time ends.
    moment = datetime.fromtimestamp(started, UTC).strftime("%Y%m%d-%H%M%S")
    slug = re.sub("[^a-z0-9]+", "-", agent.lower()).strip("-")[:24].strip("-") or "agent"
    while True:
        path = sessions / f"{moment}-{slug}-{os.urandom(2).hex()}"
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path


def _open_locked(path: Path) -> int:
    descriptor = open_own(path / WIRE, _APPEND, MAX_RECORDING_BYTES)
    if not try_lock(descriptor):
        os.close(descriptor)
        raise UserError(f"The session {path.name} is open in another acp-tui.")
    return descriptor


def _reason(error: OSError) -> str:
    return error.clause if isinstance(error, UnusableFileError) else error.strerror or str(error)


def set_session_name(folder: SessionFolder | NullFolder, name: str) -> None:
    """Save the name of a session that is being recorded. An empty string removes the name."""
    from acp_tui.store.session_title import clean_session_name

    folder.update_meta(name=clean_session_name(name) or None)

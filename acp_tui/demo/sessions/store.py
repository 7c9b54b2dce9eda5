"""Stores sessions on disk, one JSON file each, so that several demo agents can share the folder."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import uuid
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from acp import RequestError

from acp_tui.config.paths import write_private
from acp_tui.demo.sessions.history import History
from acp_tui.demo.sessions.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

PAGE_SIZE = 20
MAX_SESSIONS = 200
"""Number of sessions to keep; older ones are removed."""

_ID = re.compile(r"demo-[0-9a-f]{12}")


def _new_id() -> str:
    return f"demo-{uuid.uuid4().hex[:12]}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class StoredSession:
    """The stored part of a session. The field names are the keys in the JSON file."""

    id: str
    cwd: str
    directories: list[str] = field(default_factory=list)
    title: str | None = None
    updated_at: str = field(default_factory=_now)
    settings: Settings = field(default_factory=Settings)
    remembered: dict[str, bool] = field(default_factory=dict)  # "always" answers, by kind of tool call
    used: int = 0  # tokens, estimated
    cost: float = 0.0
    forgotten: bool = False  # it cannot be opened again
    history: History = field(default_factory=History)


class SessionStore:
    """The folder with the stored sessions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, cwd: str, directories: list[str], settings: Settings) -> StoredSession:
        """Create and save a session."""
        session = StoredSession(_new_id(), cwd, directories, settings=settings)
        self._prune()
        self.save(session)
        return session

    def fork(self, session: StoredSession, cwd: str, directories: list[str]) -> StoredSession:
        """Save a copy of a session, with its history and settings, a new id and the given folders."""
        copy = _from_json(json.loads(json.dumps(_to_json(session))))
        copy.id = _new_id()
        copy.cwd, copy.directories = cwd, directories
        copy.title = f"{session.title} (fork)" if session.title else None
        self.save(copy)
        return copy

    def save(self, session: StoredSession) -> None:
        """Write a session to disk. A failure is reported on stderr, so that the conversation can continue."""
        session.updated_at = _now()
        try:
            write_private(self._file(session.id), json.dumps(_to_json(session)))
        except OSError as error:
            print(f"demo: cannot save the session: {error}", file=sys.stderr)

    def load(self, session_id: str) -> StoredSession:
        """Read a session. Raises `RequestError` if it does not exist, is damaged or is `forgotten`."""
        try:
            session = self._read(self._file(session_id))
        except (OSError, ValueError, KeyError, TypeError):
            session = None
        if session is None or session.forgotten:
            raise RequestError(-32002, f"No such session: {session_id}", {"sessionId": session_id})
        return session

    def delete(self, session_id: str) -> None:
        """Remove a session. The protocol treats deleting an unknown session as success."""
        with contextlib.suppress(ValueError, OSError):
            self._file(session_id).unlink()

    def list_page(self, cwd: str | None, cursor: str | None) -> tuple[list[StoredSession], str | None]:
        """Return a page of the sessions that have a history, most recent first, and the next page's cursor.

        Sessions that are `forgotten` are left out. If `cwd` is given, only sessions with that folder are
        listed. The returned cursor is the sort key of the last session on the page, so new sessions do not
        shift the pages. The cursor is None on the last page.
        """
        sessions = [
            session
            for session in self._all()
            if session.history.updates and not session.forgotten and (cwd is None or session.cwd == cwd)
        ]
        sessions.sort(key=_sort_key, reverse=True)
        if cursor is not None:
            sessions = [session for session in sessions if _sort_key(session) < cursor]
        page = sessions[:PAGE_SIZE]
        return page, _sort_key(page[-1]) if len(sessions) > PAGE_SIZE else None

    # ------------------------------------------------------------------ files

    def _file(self, session_id: str) -> Path:
        # Ids come from the client and must not be used to reach other files.
        if not _ID.fullmatch(session_id):
            raise ValueError("not a session id")
        return self._folder / f"{session_id}.json"

    def _read(self, file: Path) -> StoredSession:
        return _from_json(json.loads(file.read_text(encoding="utf-8")))

    def _all(self) -> list[StoredSession]:
        found = []
        for file in self._folder.glob("*.json"):
            try:
                found.append(self._read(file))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # removed by another process, or damaged
        return found

    def _prune(self) -> None:
        """Remove the oldest sessions beyond `MAX_SESSIONS`, by modification time, without reading them."""
        files = sorted(self._folder.glob("*.json"), key=_modified, reverse=True)
        for file in files[MAX_SESSIONS:]:
            with contextlib.suppress(OSError):
                file.unlink()


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0  # another process removed it


def _sort_key(session: StoredSession) -> str:
    return f"{session.updated_at} {session.id}"


def _to_json(session: StoredSession) -> dict[str, Any]:
    stored = {key: value for key, value in vars(session).items() if key not in ("settings", "history")}
    return {**stored, "settings": asdict(session.settings), "history": session.history.updates}


def _from_json(stored: dict[str, Any]) -> StoredSession:
    return StoredSession(
        **{**stored, "settings": Settings(**stored["settings"]), "history": History(stored["history"])}
    )

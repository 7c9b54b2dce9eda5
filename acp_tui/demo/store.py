"""Sessions on disk: one JSON file each, so that several demo agents can share the folder."""

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
from acp_tui.demo.history import History
from acp_tui.demo.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

PAGE_SIZE = 20
MAX_SESSIONS = 200
"""The demo is no archive: the oldest sessions beyond this go away."""

_ID = re.compile(r"demo-[0-9a-f]{12}")


def _new_id() -> str:
    return f"demo-{uuid.uuid4().hex[:12]}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class StoredSession:
    """What is remembered of one session."""

    id: str
    cwd: str
    directories: list[str] = field(default_factory=list)
    title: str | None = None
    updated_at: str = field(default_factory=_now)
    settings: Settings = field(default_factory=Settings)
    remembered: dict[str, bool] = field(default_factory=dict)  # "always" answers, by kind of tool call
    used: int = 0  # tokens, estimated
    cost: float = 0.0
    history: History = field(default_factory=History)


class SessionStore:
    """The folder they are in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self, cwd: str, directories: list[str], settings: Settings) -> StoredSession:
        """A session that did not exist."""
        session = StoredSession(_new_id(), cwd, directories, settings=settings)
        self._prune()
        self.save(session)
        return session

    def fork(self, session: StoredSession, cwd: str, directories: list[str]) -> StoredSession:
        """Another session with the same past."""
        copy = _from_json(json.loads(json.dumps(_to_json(session))))
        copy.id = _new_id()
        copy.cwd, copy.directories = cwd, directories
        copy.title = f"{session.title} (fork)" if session.title else None
        self.save(copy)
        return copy

    def save(self, session: StoredSession) -> None:
        """Write it down; where that is impossible the conversation goes on all the same."""
        session.updated_at = _now()
        try:
            write_private(self._file(session.id), json.dumps(_to_json(session)))
        except OSError as error:
            print(f"demo: the session could not be saved: {error}", file=sys.stderr)

    def load(self, session_id: str) -> StoredSession:
        """Read it; a clear protocol error when it is not there."""
        try:
            return self._read(self._file(session_id))
        except (OSError, ValueError, KeyError, TypeError):
            raise RequestError(-32002, f"No such session: {session_id}", {"sessionId": session_id}) from None

    def delete(self, session_id: str) -> None:
        """Remove it. One that never was is as good as removed, says the protocol."""
        with contextlib.suppress(ValueError, OSError):
            self._file(session_id).unlink()

    def page(self, cwd: str | None, cursor: str | None) -> tuple[list[StoredSession], str | None]:
        """Sessions with a past, the latest first, and the cursor of the next page.

        The cursor is the place of the last one given, so that new sessions do not shift the pages.
        """
        sessions = [
            session
            for session in self._all()
            if session.history.updates and (cwd is None or session.cwd == cwd)
        ]
        sessions.sort(key=_place, reverse=True)
        if cursor is not None:
            sessions = [session for session in sessions if _place(session) < cursor]
        page = sessions[:PAGE_SIZE]
        return page, _place(page[-1]) if len(sessions) > PAGE_SIZE else None

    # ------------------------------------------------------------------ files

    def _file(self, session_id: str) -> Path:
        # An id from outside must not lead to anything but a session.
        if not _ID.fullmatch(session_id):
            raise ValueError("not an id of ours")
        return self._folder / f"{session_id}.json"

    def _read(self, file: Path) -> StoredSession:
        return _from_json(json.loads(file.read_text(encoding="utf-8")))

    def _all(self) -> list[StoredSession]:
        found = []
        for file in self._folder.glob("*.json"):
            try:
                found.append(self._read(file))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # another process removed it, or somebody edited it: it is only a demo's session
        return found

    def _prune(self) -> None:
        """Remove what is too old. By the files' times, which costs no reading of whole sessions."""
        files = sorted(self._folder.glob("*.json"), key=_modified, reverse=True)
        for file in files[MAX_SESSIONS:]:
            with contextlib.suppress(OSError):
                file.unlink()


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0  # another process was quicker


def _place(session: StoredSession) -> str:
    return f"{session.updated_at} {session.id}"


def _to_json(session: StoredSession) -> dict[str, Any]:
    stored = {key: value for key, value in vars(session).items() if key not in ("settings", "history")}
    return {**stored, "settings": asdict(session.settings), "history": session.history.updates}


def _from_json(stored: dict[str, Any]) -> StoredSession:
    return StoredSession(
        **{**stored, "settings": Settings(**stored["settings"]), "history": History(stored["history"])}
    )

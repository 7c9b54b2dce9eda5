"""The sessions on disk: a folder for each, with what is listed (`meta.json`) and what happened (`log.jsonl`).

Each line of the log is written when it happens, so that a killed agent loses at most one unfinished line. It
is a message of the conversation with the model, or an update for the replay.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.local_agent.redaction import Redactor, holds_open_key

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

PAGE_SIZE = 50
"""How many sessions one answer to `session/list` has."""

_SESSION_ID = re.compile(r"[0-9a-f]{32}")
_HISTORY = frozenset(
    {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update",
     "plan", "compaction_update"}
)  # fmt: skip
"""The updates that are replayed. The others describe a state, which is sent anew."""


class UnknownSession(Exception):  # noqa: N818 - the SDK's error is made of it
    """There is no session with this id."""


@dataclass
class Meta:
    """What is known about a session without reading its log.

    Attributes:
        model: The key of the model, see `Models`.
        used: Tokens in the context after the last request.
    """

    id: str
    cwd: str
    directories: list[str]
    mode: str
    model: str
    title: str | None = None
    updated_at: str = field(default_factory=lambda: now())
    used: int = 0
    cost: float = 0.0


def now() -> str:
    """Return the time as the protocol writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class StoredSession:
    """One session: its facts, the conversation with the model, and the log."""

    def __init__(self, folder: Path, meta: Meta, messages: list[ModelMessage], redactor: Redactor) -> None:
        self.meta = meta
        self.messages = messages
        self._folder = folder
        self._redactor = redactor
        self._log: int | None = None
        self._text: dict[str, Any] | None = None  # an update whose last line is not complete yet
        self.is_deleted = False

    def save(self) -> None:
        """Write the facts. A session is listed from its first prompt on, when it has a title."""
        if not self.is_deleted:
            _write(self._folder / "meta.json", self._redactor.redact(_json(asdict(self.meta))))

    def touch(self) -> None:
        """Note that the session has been used now."""
        self.meta.updated_at = now()
        self.save()

    def add_message(self, message: ModelMessage) -> None:
        """Append a message to the conversation with the model."""
        self.messages.append(message)
        self._append({"message": _dump([message])[0]})

    def replace_messages(self, messages: Sequence[ModelMessage]) -> None:
        """Replace the conversation with the model, for example by a summary. The replay stays complete."""
        self.messages = list(messages)
        self._append({"messages": _dump(messages)})

    def record(self, update: dict[str, Any]) -> None:
        """Append an update to the history that `replay` returns.

        Text is written line by line, because a secret that is cut in two would not be recognised.
        """
        kind = update.get("sessionUpdate")
        if self._text is not None and self._text.get("messageId") != update.get("messageId"):
            self.flush()
        if kind not in _HISTORY:
            return
        if not (isinstance(kind, str) and kind.endswith("_chunk") and "messageId" in update):
            self._append({"update": update})
            return
        before = self._text["content"]["text"] if self._text is not None else ""
        text = before + update["content"]["text"]
        complete = 0 if holds_open_key(text) else text.rfind("\n") + 1
        if complete:
            self._append({"update": update | {"content": {"type": "text", "text": text[:complete]}}})
        self._text = update | {"content": {"type": "text", "text": text[complete:]}}

    def flush(self) -> None:
        """Write text whose last line is not complete."""
        if self._text is not None and self._text["content"]["text"]:
            self._append({"update": self._text})
        self._text = None

    def replay(self) -> Iterator[dict[str, Any]]:
        """Yield the updates of the history. Terminals no longer exist, so they are left out."""
        for line in _lines(self._folder / "log.jsonl"):
            update = line.get("update")
            if isinstance(update, dict):
                if isinstance(content := update.get("content"), list):
                    shown = [item for item in content if item.get("type") != "terminal"]
                    update = update | {"content": shown}
                yield update

    def close(self) -> None:
        """Write what is left, and close the log. Writing opens it again."""
        self.flush()
        if self._log is not None:
            os.close(self._log)
            self._log = None

    def _append(self, line: dict[str, Any]) -> None:
        if self.is_deleted:
            return
        if self._log is None:
            _private_folder(self._folder)
            flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._log = os.open(self._folder / "log.jsonl", flags, 0o600)
            end = os.lseek(self._log, 0, os.SEEK_END)
            if end and os.pread(self._log, 1, end - 1) != b"\n":
                os.write(self._log, b"\n")  # the last line was torn when the agent was killed
        data = self._redactor.redact(_json(line)).encode("utf-8", "replace") + b"\n"
        while data:
            data = data[os.write(self._log, data) :]


class SessionStore:
    """The folder of all sessions. Other processes may use the same."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder
        self._redactor = redactor

    def create(self, cwd: str, directories: Sequence[str], mode: str, model: str) -> StoredSession:
        """Make a session. Its files are written with its first prompt."""
        meta = Meta(uuid.uuid4().hex, cwd, list(directories), mode, model)
        return StoredSession(self._folder / meta.id, meta, [], self._redactor)

    def load(self, session_id: str) -> StoredSession:
        """Read a session. Raises `UnknownSession`."""
        meta = self._meta(session_id)
        if meta is None:
            raise UnknownSession(session_id)
        folder = self._folder / session_id
        return StoredSession(folder, meta, _read_messages(folder / "log.jsonl"), self._redactor)

    def fork(self, original: StoredSession, cwd: str, directories: Sequence[str]) -> StoredSession:
        """Copy a session under a new id."""
        original.flush()
        facts = asdict(original.meta) | {"id": uuid.uuid4().hex, "cwd": cwd, "directories": list(directories)}
        folder = self._folder / facts["id"]
        log = self._folder / original.meta.id / "log.jsonl"
        if log.exists():
            _write(folder / "log.jsonl", log.read_text(encoding="utf-8"))
        copy = StoredSession(folder, Meta(**facts), list(original.messages), self._redactor)
        if copy.meta.title is not None:
            copy.touch()
        return copy

    def delete(self, session_id: str) -> None:
        """Delete a session. Deleting one that does not exist does nothing."""
        if _SESSION_ID.fullmatch(session_id):
            shutil.rmtree(self._folder / session_id, ignore_errors=True)

    def list_page(self, cwd: str | None, cursor: str | None) -> tuple[list[Meta], str | None]:
        """Return some sessions, the most recent first, and the cursor of the next page if there is one.

        Raises `ValueError` for an invalid cursor.
        """
        start = int(cursor) if cursor else 0
        metas = (self._meta(entry.name) for entry in _entries(self._folder))
        wanted = None if cwd is None else os.path.realpath(cwd)
        found = [
            meta
            for meta in metas
            if meta is not None and meta.title and wanted in (None, meta.cwd, os.path.realpath(meta.cwd))
        ]
        found.sort(key=lambda meta: (meta.updated_at, meta.id), reverse=True)
        end = start + PAGE_SIZE
        return found[start:end], str(end) if end < len(found) else None

    def _meta(self, session_id: str) -> Meta | None:
        if not _SESSION_ID.fullmatch(session_id):
            return None
        try:
            facts = json.loads((self._folder / session_id / "meta.json").read_text(encoding="utf-8"))
            return Meta(**(facts | {"id": session_id}))
        except (OSError, ValueError, TypeError):
            return None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _read_messages(log: Path) -> list[ModelMessage]:
    """Return the conversation with the model; messages that cannot be read are left out."""
    from pydantic import ValidationError
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages: list[Any] = []
    for line in _lines(log):
        if "messages" in line:
            messages = list(line["messages"])
        elif "message" in line:
            messages.append(line["message"])
    try:
        return ModelMessagesTypeAdapter.validate_python(messages)
    except ValidationError as error:
        print(f"local agent: {log} cannot be read: {error}", file=sys.stderr)
        return []


def _dump(messages: Sequence[ModelMessage]) -> list[Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    dumped: list[Any] = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    return dumped


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a log. A torn line is normal."""
    if not path.exists():
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _private_folder(path: Path) -> None:
    """Create a folder and its missing parents for the user alone."""
    if not path.exists():
        _private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def _write(path: Path, text: str) -> None:
    """Replace a file atomically. Only the user can read it."""
    _private_folder(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")  # mode 0600
    with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    Path(temporary).replace(path)

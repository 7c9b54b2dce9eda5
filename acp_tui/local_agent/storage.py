"""The sessions on disk: a folder for each, with what is listed (`meta.json`) and what happened (`log.jsonl`).

Each line of the log is a message of the conversation with the model, or an update for the replay. It is
written when it is complete, so that a killed agent loses at most the message that it was writing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from acp_tui.local_agent.redaction import Redactor

_SESSION_ID = re.compile(r"[0-9a-f]{32}")
_HISTORY = frozenset(
    {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update",
     "plan", "compaction_update"}
)  # fmt: skip
"""The updates that are replayed. The others describe a state, which is sent anew."""


class UnknownSession(Exception):  # noqa: N818 - the SDK's error is made of it
    """There is no session with this id."""


def now() -> str:
    """Return the time as the protocol writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


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
    updated_at: str = field(default_factory=now)
    used: int = 0
    cost: float = 0.0


class StoredSession:
    """One session: its facts, the conversation with the model, and the log."""

    def __init__(self, folder: Path, meta: Meta, messages: list[ModelMessage], redactor: Redactor) -> None:
        self.meta = meta
        self.messages = messages
        self._folder = folder
        self._redactor = redactor
        self._text: dict[str, Any] | None = None  # an update with the text of an unfinished message

    def save(self) -> None:
        """Write the facts. A session is listed from its first prompt on, when it has a title."""
        self._write("meta.new", "w", asdict(self.meta))
        (self._folder / "meta.new").replace(self._folder / "meta.json")

    def touch(self) -> None:
        """Note that the session has been used now."""
        self.meta.updated_at = now()
        self.save()

    def add_message(self, message: ModelMessage) -> None:
        """Append a message to the conversation with the model."""
        self.messages.append(message)
        self._write("log.jsonl", "a", {"message": _dump([message])[0]})

    def replace_messages(self, messages: Sequence[ModelMessage]) -> None:
        """Replace the conversation with the model, for example by a summary. The replay stays complete."""
        self.messages = list(messages)
        self._write("log.jsonl", "a", {"messages": _dump(messages)})

    def record(self, update: dict[str, Any]) -> None:
        """Append an update to the history that `replay` returns.

        Streamed text is written when its message is complete, because a secret that is cut in two would not
        be recognised.
        """
        if self._text is not None and self._text["messageId"] == update.get("messageId"):
            self._text["content"]["text"] += update["content"]["text"]
            return
        self.flush()
        if update["sessionUpdate"] not in _HISTORY:
            return
        if "messageId" in update:
            self._text = update | {"content": dict(update["content"])}
        else:
            self._write("log.jsonl", "a", {"update": update})

    def flush(self) -> None:
        """Write the text of a message that has ended."""
        if self._text is not None:
            self._write("log.jsonl", "a", {"update": self._text})
            self._text = None

    def replay(self) -> Iterator[dict[str, Any]]:
        """Yield the updates of the history. Terminals no longer exist, so they are left out."""
        for line in _lines(self._folder / "log.jsonl"):
            if (update := line.get("update")) is None:
                continue
            if isinstance(content := update.get("content"), list):
                update["content"] = [item for item in content if item["type"] != "terminal"]
            yield update

    def _write(self, name: str, mode: str, content: dict[str, Any]) -> None:
        """Write JSON to a file that only the user can read.

        The line break comes first: it ends a line that was torn when the agent was killed.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        data = ("\n" + self._redactor.redact(text)).encode("utf-8", "replace")
        with open(self._folder / name, f"{mode}b", opener=_open_privately) as file:
            file.write(data)


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
        meta = replace(original.meta, id=uuid.uuid4().hex, cwd=cwd, directories=list(directories))
        copy = StoredSession(self._folder / meta.id, meta, list(original.messages), self._redactor)
        if meta.title is not None:
            shutil.copytree(self._folder / original.meta.id, self._folder / meta.id)
            copy.touch()
        return copy

    def delete(self, session_id: str) -> None:
        """Delete a session. Deleting one that does not exist does nothing."""
        if _SESSION_ID.fullmatch(session_id):
            shutil.rmtree(self._folder / session_id, ignore_errors=True)

    def list_all(self, cwd: str | None) -> list[Meta]:
        """Return the sessions of a folder, or all, the most recent first."""
        metas = [self._meta(path.parent.name) for path in self._folder.glob("*/meta.json")]
        found = [meta for meta in metas if meta is not None and cwd in (None, meta.cwd)]
        return sorted(found, key=lambda meta: meta.updated_at, reverse=True)

    def _meta(self, session_id: str) -> Meta | None:
        if not _SESSION_ID.fullmatch(session_id):
            return None
        try:
            facts = json.loads((self._folder / session_id / "meta.json").read_text(encoding="utf-8"))
            return Meta(**(facts | {"id": session_id}))
        except (OSError, ValueError, TypeError):
            return None


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a log. Lines that are torn or empty are normal."""
    if not path.exists():
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                yield json.loads(text)
            except ValueError:
                continue


def _read_messages(log: Path) -> list[ModelMessage]:
    """Return the conversation with the model."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages: list[Any] = []
    for line in _lines(log):
        if "messages" in line:
            messages = list(line["messages"])
        elif "message" in line:
            messages.append(line["message"])
    return ModelMessagesTypeAdapter.validate_python(messages)


def _dump(messages: Sequence[ModelMessage]) -> list[Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    dumped: list[Any] = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    return dumped

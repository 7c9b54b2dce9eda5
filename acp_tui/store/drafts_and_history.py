"""What users have typed: drafts, review comments that were not sent, earlier prompts and messages by hand."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from acp_tui.store.json_lines_file import JsonLinesFile, Record, latest_of_each
from acp_tui.store.redaction import redact_value


class Drafts:
    """The unsent prompt of each session, by the session's local id."""

    def __init__(self, state_dir: Path) -> None:
        self._lines = JsonLinesFile(state_dir / "drafts.jsonl", condense=_current_drafts)

    def save(self, session: str, text: str) -> None:
        """Save a draft; an empty string deletes it. Raises `OSError`."""
        self._lines.append({"session": session, "text": text})

    def load(self, session: str) -> str:
        return self.load_all().get(session, "")

    def load_all(self) -> dict[str, str]:
        """Return the drafts of all sessions that have one."""
        return {str(record["session"]): str(record["text"]) for record in _current_drafts(self._lines.read())}


def _current_drafts(records: list[Record]) -> list[Record]:
    return latest_of_each([one for one in records if isinstance(one.get("text"), str)], "session", "text")


class SavedComments:
    """The unsent comments of sessions as JSON values, by the session's local id.

    If the file gets too large, the comments that were saved longest ago are dropped.
    """

    def __init__(self, state_dir: Path) -> None:
        self._lines = JsonLinesFile(state_dir / "review_comments.jsonl", condense=_current_comments)

    def save(self, session: str, comments: object) -> None:
        """Save the comments of a session in place of those saved before. Raises `OSError`."""
        self._lines.append({"session": session, "comments": comments})

    def load(self, session: str) -> object:
        """Return the saved comments of a session, unchecked; an empty list if there are none."""
        records = _current_comments(self._lines.read())
        return next((one.get("comments") for one in records if one["session"] == session), [])

    def sessions(self) -> set[str]:
        """Return the ids of the sessions with comments."""
        return {str(record["session"]) for record in _current_comments(self._lines.read())}


def _current_comments(records: list[Record]) -> list[Record]:
    return latest_of_each(records, "session", "comments")


_last_of_each = partial(latest_of_each, key="text", content="text")


class History:
    """The prompt history of one project folder, shared by all agents."""

    def __init__(self, state_dir: Path, project: str) -> None:
        path = state_dir / "history" / f"{_file_name(project)}.jsonl"
        self._lines = JsonLinesFile(path, condense=_last_of_each)

    def add(self, text: str, at: float) -> None:
        """Save a prompt. Raises `OSError`."""
        self._lines.append({"t": at, "text": text})

    def entries(self) -> list[str]:
        """Return the prompts, the latest last. Of equal prompts, only the latest is returned."""
        return [record["text"] for record in _last_of_each(self._lines.read())]


class MessageHistory:
    """The messages to agents that the user wrote, as JSON-RPC frames. A request has an `id`."""

    def __init__(self, state_dir: Path) -> None:
        self._lines = JsonLinesFile(state_dir / "messages_by_hand.jsonl", condense=_last_messages)

    def add(self, frame: dict[str, Any], at: float) -> None:
        """Save a message without its secrets. Raises `OSError`."""
        self._lines.append({"t": at, "message": json.dumps(redact_value(frame))})

    def entries(self) -> list[dict[str, Any]]:
        """Return the messages, the latest last. Of equal messages, only the latest is returned."""
        found = []
        for record in _last_messages(self._lines.read()):
            with contextlib.suppress(ValueError, RecursionError):
                frame = json.loads(record["message"])
                if isinstance(frame, dict) and isinstance(frame.get("method"), str):
                    found.append(frame)
        return found


_last_messages = partial(latest_of_each, key="message", content="message")


def _file_name(project: str) -> str:
    """Return a name for the history file: the name of the project's folder plus a hash of `project`."""
    name = re.sub("[^A-Za-z0-9._-]+", "-", Path(project).name)[:40] or "root"
    return f"{name.lstrip('.')}-{hashlib.sha256(project.encode(errors='surrogatepass')).hexdigest()[:12]}"

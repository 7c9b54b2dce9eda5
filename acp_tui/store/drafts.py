"""Drafts of prompts, and comments of a review that have not been sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.store.json_lines_file import JsonLinesFile, latest_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.store.json_lines_file import Record


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

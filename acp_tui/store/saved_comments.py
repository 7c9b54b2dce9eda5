"""Review comments that were not sent yet, saved so that they survive a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.store.files.json_lines_file import JsonLinesFile

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.store.files.json_lines_file import Record


class SavedComments:
    """The unsent comments of sessions as JSON values, by the session's local id.

    If the file gets too large, the comments that were saved longest ago are dropped.
    """

    def __init__(self, state_dir: Path) -> None:
        self._lines = JsonLinesFile(state_dir / "review_comments.jsonl", condense=_current)

    def save(self, session: str, comments: object) -> None:
        """Save all comments of a session. Raises `OSError`."""
        self._lines.append({"session": session, "comments": comments})

    def load(self, session: str) -> object:
        """Return the saved comments of a session, unchecked; an empty list if there are none."""
        records = _current(self._lines.read())
        return next((one.get("comments") for one in records if one["session"] == session), [])

    def sessions(self) -> set[str]:
        """Return the ids of the sessions that have comments."""
        return {str(record["session"]) for record in _current(self._lines.read())}


def _current(records: list[Record]) -> list[Record]:
    """Return each session's current record if the record has comments. The latest record comes last."""
    latest: dict[str, Record] = {}
    for record in records:
        session = record.get("session")
        if isinstance(session, str):
            latest.pop(session, None)
            if record.get("comments"):
                latest[session] = record
    return list(latest.values())

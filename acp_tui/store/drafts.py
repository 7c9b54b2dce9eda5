"""Unsent prompts, saved so that they survive a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.store.files.json_lines_file import JsonLinesFile

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.store.files.json_lines_file import Record


class Drafts:
    """The unsent prompt of each session, by the session's local id."""

    def __init__(self, state_dir: Path) -> None:
        self._lines = JsonLinesFile(state_dir / "drafts.jsonl", condense=_current)

    def save(self, session: str, text: str) -> None:
        """Save a draft; an empty text deletes it. Raises `OSError`."""
        self._lines.append({"session": session, "text": text})

    def load(self, session: str) -> str:
        """Return the draft, or an empty string."""
        return self.load_all().get(session, "")

    def load_all(self) -> dict[str, str]:
        """Return the drafts of all sessions that have one."""
        return {str(record["session"]): str(record["text"]) for record in _current(self._lines.read())}


def _current(records: list[Record]) -> list[Record]:
    """Return the current draft of each session that has a draft, the latest draft at the end."""
    latest: dict[str, Record] = {}
    for record in records:
        session, text = record.get("session"), record.get("text")
        if isinstance(session, str) and isinstance(text, str):
            latest.pop(session, None)
            if text:
                latest[session] = record
    return list(latest.values())
